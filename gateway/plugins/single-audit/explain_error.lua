-- Explains errors that PostgREST and PostgreSQL report about a request: which parameter is wrong, and what to send instead.

local correct_parameter = require "kong.plugins.single-audit.correct_parameter"
local find_columns = require "kong.plugins.single-audit.find_columns"
local served_tables = require "kong.plugins.single-audit.served_tables"

local show = correct_parameter.show
local NOT_FILTERS = { select = true, order = true, limit = true, offset = true, columns = true, on_conflict = true, ["or"] = true, ["and"] = true }

local function find_parameter(request, is_meant)
  for _, parameter in ipairs(request.parameters) do
    if not NOT_FILTERS[parameter.keyword] and is_meant(parameter) then
      return parameter
    end
  end
end

-- The filter with one of these operators, unless several have one.
local function find_operator(request, operators)
  local found, count = nil, 0
  for _, parameter in ipairs(request.parameters) do
    local operator = parameter.value:match("^not%.(%l+)") or parameter.value:match("^%l+") or ""
    if not NOT_FILTERS[parameter.keyword] and (" " .. operators .. " "):find(" " .. operator .. " ", 1, true) then
      found, count = parameter, count + 1
    end
  end
  return count == 1 and found or nil
end

local function get_value(request, keyword)
  for _, parameter in ipairs(request.parameters) do
    if parameter.keyword == keyword then
      return parameter.value
    end
  end
  return ""
end

local SYNTAX = {
  { "parse select", "Separate columns by commas, and put the columns of another table in parentheses: `select=report_id,findings(reference_number)`." },
  { "parse logic tree", "Put the filters of `or` and `and` in parentheses, with a period before each operator and value: `or=(audit_year.eq.2023,audit_year.eq.2022)`." },
  { "parse tree path", "Write the name of a column before each =: `audit_year=eq.2023`." },
}

local COUNT = "To count rows, send the header Prefer: count=exact, and read Content-Range."

local function explain_syntax(request, message)
  if message:find("parse order", 1, true) then
    return ("Write columns with .asc or .desc, separated by commas: `order=%s`."):format(correct_parameter.read_order(get_value(request, "order")))
  end
  for _, syntax in ipairs(SYNTAX) do
    if message:find(syntax[1], 1, true) then
      return message:find("count(", 1, true) and COUNT or syntax[2]
    end
  end
  local start = select(2, message:find("parse filter (", 1, true))
  local parameter = start and find_parameter(request, function(each)
    local plain = each.value:sub(1, 100):match('^[^%c"\\]*')
    local is_whole = plain == each.value
    return message:sub(start + 1, start + #plain) == plain and (not is_whole or message:find('^%)\\"', start + #plain + 1) ~= nil)
  end)
  local path = parameter and parameter.name:match("([%w_]+)%.[^.]*$")
  local is_table = correct_parameter.list_tables(request)[path or ""] ~= nil
  return parameter and correct_parameter.correct_filter(parameter, is_table and path or request.table_name, request)
end

local function explain_column(request, message, hint)
  local table_name, name = message:match("^column ([%w_]+)%.(.-) does not exist")
  if not name then
    return nil
  end
  local tables = correct_parameter.list_tables(request)
  table_name = tables[table_name] and table_name or table_name:gsub("_%d+$", "")
  local direction = name:match("^[%w_]+ (%a+)$")
  if name == "count" then
    return COUNT
  elseif tables[name] then
    return ("`%s` is a table: write its columns in parentheses, as in `select=*,%s(*)`."):format(name, name)
  elseif direction and direction:lower():find("sc$") then
    return ("To sort, write `order=%s`."):format(correct_parameter.read_order(name))
  elseif name:find("^or%l") and get_value(request, "or"):find("^[^(]") or name:find("^and%l") and get_value(request, "and"):find("^[^(]") then
    return SYNTAX[2][2]
  elseif name:find(" ", 1, true) then
    return SYNTAX[1][2]
  end
  local parameter = find_parameter(request, function(each) return each.keyword == name end)
  return correct_parameter.correct_name(name, table_name, request, parameter, parameter and parameter.value, hint and hint:match("%.([%w_]+)"))
end

local EXAMPLES = { date = "2023-06-30", boolean = "true", bigint = "750000", integer = "2023", smallint = "2023", numeric = "2023" }

-- A value that PostgreSQL cannot read as one of the column's type.
local function explain_value(request, message)
  local value = message:match(': \\"(.-)\\"') or message:match('value \\"(.-)\\" is out') or ""
  local parameter = value ~= "" and find_parameter(request, function(each) return each.value:find(value, 1, true) ~= nil end)
    or find_parameter(request, function(each) return value == "" and each.value:find("[.(,]$") ~= nil end)
  local kind = message:match("type (%l+)") or "date"
  if not parameter then
    return get_value(request, "select"):find("::", 1, true) and "PostgreSQL cannot cast every value. Leave the casts (::) out of `select`."
      or ("Write a value of the type %s, such as %s."):format(kind, EXAMPLES[kind] or "null")
  end
  local name = show(parameter.name)
  if value == "" or value == "null" then
    return ("For rows without a value, write `%s=is.null`."):format(name)
  elseif message:find("array", 1, true) then
    return ("List the values of `%s` in parentheses: `%s=in.(2022,2023)`."):format(name, name)
  end
  local operator = parameter.value:match("^([gl]te?)%.") or "eq"
  local digits, year = value:gsub("[$, ]", ""):match("^%d+"), value:match("^%d%d%d%d$")
  local example = kind == "date" and year and year .. "-01-01" or kind:find("int") and digits and #digits < 10 and digits or EXAMPLES[kind] or "…"
  return ("`%s` takes a value of the type %s: write `%s=%s.%s`."):format(name, kind, name, operator, example)
end

-- Sentences about a filter, with the operators by which it is found.
local FILTERS = {
  ["2201B"] = { "match imatch", "`%s` has a malformed regular expression. To find a part of a text, write `%s=ilike.*text*`." },
  ["42601"] = { "fts", "`%s` needs & or | between words. For words as people write them, write `%s=plfts.audit finding`." },
  ["42704"] = { "fts plfts phfts wfts", "`%s` needs no language: write `%s=plfts.audit finding`." },
  ["42804"] = { "is", "`%s` is not true or false, but a text: write `%s=eq.Yes`, `eq.Y` or `is.null`." },
  ["42883"] = { "like ilike match imatch fts plfts phfts wfts cs cd ov sl sr nxr nxl adj", "The type of `%s` does not have this operator: write `%s=` with eq, gt, gte, lt, lte or in." },
}

-- A hint for a table that does not exist, or that another table does not embed.
local function explain_table(request, name, problem)
  local names = {}
  for table_name in pairs(correct_parameter.list_tables(request)) do
    names[#names + 1] = table_name
  end
  table.sort(names)
  local nearest = find_columns.find_nearest(name, names)
  return problem .. (nearest and ("Did you mean `%s`? "):format(nearest) or "") .. "GET / lists the tables."
end

local function explain_missing_table(request)
  if request.table_name == "unified" then
    return "Its columns are in two tables: /federal_awards?select=*,general(*)."
  end
  return explain_table(request, request.table_name, ("`%s` is not a table. "):format(show(request.table_name)))
end

local function explain_embed(request, message)
  local parent, name = message:match("between '([%w_]+)' and '([%w_]+)'")
  if parent == name then
    return parent and ("The columns of `%s` are in each row already: leave `%s(…)` out of `select`."):format(name, name)
  end
  return explain_table(request, name, ("`%s` does not embed `%s`. "):format(parent, name))
end

local function explain_unembedded(request, message)
  local name = message:match("^'([%w_]+)'") or ""
  local parameter = find_parameter(request, function(each) return each.name:find("^" .. name .. "%.") ~= nil end)
  if parameter and name == request.table_name then
    return ("Leave the table out of `%s`: write `%s=%s`."):format(show(parameter.name), show(parameter.keyword), show(parameter.value))
  end
  return ("To filter or sort by `%s`, embed it: `select=*,%s(*)`."):format(name, name)
end

-- The federal service has later versions of the same tables.
local function explain_version(request, _, hint)
  local profile = request.headers["accept-profile"]
  local is_federal = type(profile) == "string" and profile:find("^api_v1_[23]_0$")
  local start = is_federal and ("`%s` has the same columns as `%s` of the federal service. "):format(served_tables.default, profile) or ""
  return start .. "Send a version that is served in the header Accept-Profile, or leave it out." .. (hint and not hint:find("\\", 1, true) and " " .. hint or "")
end

local EXPLANATIONS = {
  ["22003"] = explain_value,
  ["22007"] = explain_value,
  ["22008"] = explain_value,
  ["22P02"] = explain_value,
  ["42703"] = explain_column,
  ["42P01"] = explain_missing_table,
  PGRST100 = explain_syntax,
  PGRST106 = explain_version,
  PGRST108 = explain_unembedded,
  PGRST200 = explain_embed,
  PGRST205 = explain_missing_table,
}

--- @param code       PostgREST's or PostgreSQL's
--- @param message    the first bytes of its message, as JSON writes them
--- @param hint       its hint, likewise, or nil
--- @param request    { path, parameters (parse_query), headers }
--- @return a hint, or nil
return function(code, message, hint, request)
  request.table_name = request.path:match("^/([%w_]+)$") or ""
  if EXPLANATIONS[code] then
    return EXPLANATIONS[code](request, message, hint)
  end
  local parameter = FILTERS[code] and find_operator(request, FILTERS[code][1])
  return parameter and FILTERS[code][2]:format(show(parameter.name), show(parameter.name))
end
