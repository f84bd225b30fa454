-- Refuses requests that would cost PostgREST too much before any timeout starts, requests that tell Kong to drop
-- headers, and requests with bytes that PostgREST cannot read. The limits are in gateway/kong.yml.

local file_access = require "kong.plugins.single-audit.file_access"
local refusal = require "kong.plugins.single-audit.refusal"

local refuse = refusal.bad_request
local READS = { GET = true, HEAD = true, OPTIONS = true }
local CONNECTION_OPTIONS = { close = true, ["keep-alive"] = true, te = true, upgrade = true, ["http2-settings"] = true }
local LISTS = { select = true, order = true, columns = true, on_conflict = true }
-- Keys have at least 40 characters, so a path of at most this length cannot contain one, and logs may show it.
local LONGEST_PATH = 39

local function is_utf8(text)
  if not text:find("[\128-\255]") then
    return true
  end
  text = text:gsub("[\194-\223][\128-\191]", " ")
  text = text:gsub("\224[\160-\191][\128-\191]", " "):gsub("\237[\128-\159][\128-\191]", " ")
  text = text:gsub("[\225-\236\238\239][\128-\191][\128-\191]", " ")
  text = text:gsub("\240[\144-\191][\128-\191][\128-\191]", " ")
  text = text:gsub("[\241-\243][\128-\191][\128-\191][\128-\191]", " ")
  text = text:gsub("\244[\128-\143][\128-\191][\128-\191]", " ")
  return not text:find("[\128-\255]")
end

local function is_table_path(path)
  return #path <= LONGEST_PATH and path:find("^/[a-z0-9_/]*$") ~= nil
end

local function refuse_key(key)
  if not key.hash then
    local code = key.is_missing and "API_KEY_MISSING" or "API_KEY_INVALID"
    local problem = key.is_missing and "The request has no API key." or "The API key is not valid."
    return refusal.new(
      401, code, problem .. " Send a valid key in the header x-api-key. The API's website says how to get one.",
      "Use DEMO_KEY to try the API.", { ["WWW-Authenticate"] = "Key" }
    )
  end
end

local function refuse_method(method, path)
  if path == file_access.path and method ~= "POST" and method ~= "OPTIONS" then
    return refusal.new(405, "method_not_allowed", "This function must be called with POST.", file_access.hint, { Allow = "POST, OPTIONS" })
  elseif path ~= file_access.path and not READS[method] then
    local hint = file_access.matches(path) and file_access.hint or "Use GET or HEAD."
    return refusal.new(405, "method_not_allowed", "This API is read-only.", hint, { Allow = "GET, HEAD, OPTIONS" })
  end
end

local function refuse_path(request)
  local path = request.path
  -- For any other path, PostgREST's error is just {}.
  if not is_table_path(path) or path:find("/", 2, true) and not path:find("^/rpc/[^/]+$")
    or request.raw_path:find("[\128-\255]") then
    return refusal.new(404, "no_such_table", "There is no such table.", "Send the request to /<table>. GET / lists the tables.")
  end
end

local function refuse_headers(request)
  if request.has_more_headers then
    return refuse("The request has too many headers.", "Send 100 headers or fewer.")
  end
  for name, value in pairs(request.headers) do
    if type(value) == "table" and (name == "accept-profile" or name == "content-profile") then
      return refuse("The header " .. name .. " was sent more than once.", "Send it once.")
    end
    value = type(value) == "table" and table.concat(value, " , ") or value
    if not is_utf8(value) or not is_utf8(name) then
      return refuse("A header contains bytes that are not UTF-8.", "Encode headers as UTF-8.")
    end
  end
  local connection = request.headers.connection or ""
  connection = type(connection) == "table" and table.concat(connection, ",") or connection
  for option in connection:lower():gmatch("[^%s,]+") do
    -- Kong drops the headers that Connection names, even headers that the gateway sets.
    if not CONNECTION_OPTIONS[option] then
      return refuse("The Connection header must not name other headers.", "Send Connection: close or keep-alive, or leave the header out.")
    end
  end
end

local function refuse_body(request)
  local length = request.headers["content-length"]
  if READS[request.method] and (request.headers["transfer-encoding"] or (length and tonumber(length) ~= 0)) then
    return refuse("A " .. request.method .. " request may not have a body.", "Put filters in the query string.")
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
end

local function refuse_query(query, config)
  if #query > config.longest_query then
    return refuse(
      "The query string is too long.",
      "Send at most " .. config.longest_query .. " bytes; split a longer query into several requests."
    )
  end
  if query:find("%00", 1, true) or not is_utf8(ngx.unescape_uri(query)) then
    return refuse("The query string contains %00, or bytes that are not UTF-8.", "Send it as percent-encoded UTF-8, without %00.")
  end
  local parameters, items = 0, 0
  for parameter in query:gmatch("[^&]+") do
    local name, value = parameter:match("^([^=]*)=?(.*)$")
    name, value = ngx.unescape_uri(name), ngx.unescape_uri(value)
    parameters = parameters + 1
    if parameters > config.most_parameters or #name > config.longest_parameter_name then
      return refuse(
        "The query has too many parameters, or a parameter name that is too long.",
        "Send at most " .. config.most_parameters .. " parameters, with names of at most "
          .. config.longest_parameter_name .. " bytes."
      )
    end
    local last = name:match("^.*%.(.*)$") or name
    local _, more = value:gsub("[,>]", "")
    items = items + more + 1
    if items > config.most_items or (LISTS[last] and more >= config.most_columns) then
      return refuse(
        "The query names too many columns or values.",
        "Send at most " .. config.most_columns .. " columns per parameter, and " .. config.most_items
          .. " columns plus values in all; split a larger query into several requests."
      )
    end
    -- PostgREST handles a negative limit for the top-level table, but fails on one for an embedded table.
    if last == "limit" and name ~= last and value:find("-", 1, true) then
      return refuse("The limit of an embedded table is negative.", "Send 0 or more.")
    end
    if is_deeper_than(value, config.deepest_nesting) then
      return refuse("The query is nested too deeply.", "Nest parentheses at most " .. config.deepest_nesting .. " deep.")
    end
  end
end

local refuse_request = { is_table_path = is_table_path }

--- @param request  { is_missing, hash (of the key), method, path (normalized), raw_path, query,
---   headers (name to value or values), has_more_headers }
--- @return a refusal, or nil
function refuse_request.check(request, config)
  return refuse_key(request)
    or refuse_method(request.method, request.path)
    or refuse_path(request)
    or refuse_headers(request)
    or refuse_body(request)
    or refuse_query(request.query, config)
end

return refuse_request
