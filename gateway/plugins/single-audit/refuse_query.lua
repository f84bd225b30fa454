-- Refuses queries that PostgREST cannot read, would misread, or would read for too long. The limits are in
-- gateway/kong.yml.

local is_utf8 = require "kong.plugins.single-audit.is_utf8"
local refusal = require "kong.plugins.single-audit.refusal"
local show = require("kong.plugins.single-audit.correct_parameter").show

local refuse = refusal.bad_request
local LISTS = { select = true, order = true, columns = true, on_conflict = true }
local NUMBERS = { limit = true, offset = true }
-- PostgreSQL's bigint has 19 digits.
local MOST_DIGITS = 18

local function refuse_bytes(query)
  if query:find("%00", 1, true) or not is_utf8(ngx.unescape_uri(query)) then
    return refuse("The query string contains %00, or bytes that are not UTF-8.", "Send it as percent-encoded UTF-8, without %00.")
  end
end

local function refuse_parameters(parameters, has_more, config)
  local is_too_long = false
  for _, parameter in ipairs(parameters) do
    is_too_long = is_too_long or #parameter.name > config.longest_parameter_name
  end
  if has_more or is_too_long then
    return refuse(
      "The query has too many parameters, or a parameter name that is too long.",
      "Send at most " .. config.most_parameters .. " parameters, with names of at most "
        .. config.longest_parameter_name .. " bytes."
    )
  end
end

-- PostgREST ignores a limit or offset that it cannot read and a negative offset, and returns other rows than the client
-- wants. It fails on a negative limit of an embedded table.
local function refuse_number(parameter)
  if NUMBERS[parameter.keyword] then
    local digits = parameter.value:match("^ *(%d+) *$")
    if not digits or #digits > MOST_DIGITS then
      return refuse(
        "The parameter " .. parameter.keyword .. " is not a whole number.",
        "Send digits only, such as " .. parameter.keyword .. "=100."
      )
    end
  end
end

-- Also counts parentheses in quotation marks: only PostgREST's own parser could tell them apart.
local function is_deeper_than(value, most)
  local depth = 0
  for bracket in value:gmatch("[()]") do
    depth = bracket == "(" and depth + 1 or math.max(depth - 1, 0)
    if depth > most then
      return true
    end
  end
  return false
end

local function refuse_nesting(parameter, config)
  if is_deeper_than(parameter.value, config.deepest_nesting) then
    return refuse("The query is nested too deeply.", "Nest parentheses at most " .. config.deepest_nesting .. " deep.")
  end
end

local SIGNS = { [">"] = "gt", ["<"] = "lt", ["<>"] = "neq" }

-- PostgREST ignores a parameter without "=", and returns other rows than the client wants.
local function refuse_sign(parameter)
  local column, sign, value = parameter.name:match("^([%w_]+)([<>]+)([^<>].*)$")
  if SIGNS[sign] and parameter.value == "" then
    return refuse("A filter has no operator.", ("Write `%s=%s.%s`."):format(show(column), SIGNS[sign], show(value)))
  end
end

local function refuse_items(parameters, config)
  local total, is_list_too_long = 0, false
  for _, parameter in ipairs(parameters) do
    local _, separators = parameter.value:gsub("[,>]", "")
    total = total + separators + 1
    is_list_too_long = is_list_too_long or LISTS[parameter.keyword] and separators >= config.most_columns
  end
  if is_list_too_long or total > config.most_items then
    return refuse(
      "The query names too many columns or values.",
      "Send at most " .. config.most_columns .. " columns per parameter, and " .. config.most_items
        .. " columns plus values in all; split a larger query into several requests."
    )
  end
end

--- @param query       the query string, as sent
--- @param parameters  its parameters, and whether it has more of them (parse_query)
--- @return a refusal, or nil
return function(query, parameters, has_more, config)
  local refused = refuse_bytes(query) or refuse_parameters(parameters, has_more, config) or refuse_items(parameters, config)
  for _, parameter in ipairs(refused and {} or parameters) do
    refused = refused or refuse_sign(parameter) or refuse_number(parameter) or refuse_nesting(parameter, config)
  end
  return refused
end
