-- Says what to send instead of a parameter that PostgREST cannot read, or whose column does not exist.

local find_columns = require "kong.plugins.single-audit.find_columns"
local get_version = require "kong.plugins.single-audit.get_version"
local served_tables = require "kong.plugins.single-audit.served_tables"

local LONGEST_SHOWN = 60
-- Every key contains at least 40 letters and digits in a row.
local KEY_LENGTH = 40

-- What words of other APIs mean here. The words are lowercase and contain only letters.
local MEANINGS = {
  { "first limit max maxresults num pagesize perpage rows size take top", "For <number> rows, write `<path>limit=<number>`." },
  { "count total", "For <number> rows, write `<path>limit=<number>`. To count rows, send the header Prefer: count=exact." },
  { "p page pageindex pageno pagenumber", "For page <page> of <size> rows each, write `<path>limit=<size>&<path>offset=<skipped>`." },
  { "after cursor from offset skip start startat startindex", "To skip <number> rows, write `<path>offset=<number>`." },
  { "direction order orderby ordering sort sortby sortorder", "To sort, write `<path>order=<order>`." },
  { "attributes columns fields properties select", "To choose columns, write `select=<columns>`." },
  { "embed expand include join", "To add the rows of another table, write `select=*,findings(*)`." },
  { "condition filter filters where", "To filter, write the column, an operator and the value: `audit_year=eq.2023`." },
  { "auditorwords keyword keywords q query s search searchterm term text words", "To find names in `general`, write `words=plfts(names).<value>`. To search a column, write `auditee_city=ilike.*<value>*`." },
  { "aggregate distinct groupby having", "For totals, read `totals_by_state`, `totals_by_agency` or `totals_by_program`." },
  { "accept callback contenttype format output outputformat type", "To choose a format, send the header Accept, or `format=csv`." },
  { "accesstoken apikey auth authorization key token xapikey", "Send the key in the header x-api-key, or as `api_key=`.", is_key = true },
}
local WORDS = {}
for _, meaning in ipairs(MEANINGS) do
  for word in meaning[1]:gmatch("%a+") do
    WORDS[word] = meaning
  end
end

local function find_meaning(name)
  return WORDS[(name:lower():gsub("%A", ""))]
end

local correct_parameter = {}

--- What a client sent, unless it may be a key, is long, or has characters that JSON or a URL would escape.
function correct_parameter.show(text)
  local is_hidden = #text > LONGEST_SHOWN or text:find('[%c"\\&#+;`]') or text:find(("%w"):rep(KEY_LENGTH))
  return is_hidden and "…" or text
end
local show = correct_parameter.show

--- The tables of the version that a request asks for, each with its columns.
function correct_parameter.list_tables(request)
  return served_tables.columns[get_version(request.headers["accept-profile"])] or {}
end

--- Whether a parameter may hold a key.
function correct_parameter.has_key(request)
  for _, parameter in ipairs(request.parameters) do
    local meaning, is_key = find_meaning(parameter.keyword), false
    for run in parameter.value:gmatch("%w+") do
      is_key = is_key or #run >= KEY_LENGTH
    end
    if is_key or meaning and meaning.is_key then
      return true
    end
  end
  return false
end

--- The order that someone meant by "-column", "column desc" or "column:desc".
function correct_parameter.read_order(value)
  -- Longer ones would take long to match.
  local minus, column, direction = value:sub(1, LONGEST_SHOWN):match("^%+?(%-?) *([%w_]+)[ .:,]*(%a*)$")
  local is_descending = minus == "-" or column and direction:lower():find("^desc")
  return column and show(column) .. (is_descending and ".desc" or ".asc") or "audit_year.desc"
end

-- The number of rows of a page that the request names, also in a word of another API, or 100.
local function find_page_size(path, request)
  for _, parameter in ipairs(request.parameters) do
    local word = parameter.name:sub(1, #path) == path and find_meaning(parameter.name:sub(#path + 1))
    if word == WORDS.limit and parameter.value:find("^[1-9]%d?%d?%d?$") then
      return tonumber(parameter.value)
    end
  end
  return 100
end

local function advise(meaning, parameter, request)
  local path = parameter.name:sub(1, -#parameter.keyword - 1)
  local size = find_page_size(path, request)
  local value, page = parameter.value, tonumber(parameter.value:match("^%d%d?%d?%d?$")) or 2
  return (meaning[2]:gsub("<(%l+)>", {
    path = show(path),
    size = size,
    value = show(value),
    number = show(value:match("^%d+$") or "100"),
    page = page,
    skipped = math.max(page - 1, 0) * size,
    order = correct_parameter.read_order(value),
    columns = value:find("^[%w_,*]+$") and show(value) or "report_id,audit_year",
  }))
end

local RESERVED = { "limit", "offset", "order", "select" }

-- Filters on columns. Of several columns, each takes a part of the value: 93.778 is federal_agency_prefix 93 and
-- federal_award_extension 778.
local function write_filters(columns, filter, path)
  local operator, value = (filter or ""):match("^(%l+)%.(.*)$")
  local parts = {}
  for part in (value or ""):gmatch("[^.]+") do
    parts[#parts + 1] = part
  end
  local filters = {}
  for place, column in ipairs(columns) do
    filters[place] = path .. column .. "=" .. show(#columns == 1 and filter or ("%s.%s"):format(operator, parts[place] or ""))
  end
  return filter and (#columns == 1 or #parts == #columns) and "`" .. table.concat(filters, "&") .. "`"
end

local function suggest_columns(name, table_name, request, filter)
  local version = get_version(request.headers["accept-profile"])
  local own, others, other = find_columns.find(name, table_name, version)
  local hint = own and ("Did you mean %s? "):format(#own > 1 and write_filters(own, filter, "") or "`" .. table.concat(own, "` or `") .. "`") or ""
  if others then
    hint = hint .. ("`%s` has `%s`"):format(other, table.concat(others, "` and `"))
    local filters = find_columns.can_embed(table_name, other, version) and write_filters(others, filter, other .. ".")
    hint = hint .. (filters and (": write `select=*,%s!inner(*)` and %s"):format(other, filters) or "") .. ". "
  end
  return hint ~= "" and hint
end

--- A hint for a column that does not exist.
--- @param parameter   the parameter of this name, or nil if the name is part of another parameter
--- @param filter      an operator and the parameter's value, or nil
--- @param suggestion  PostgreSQL's, or nil
function correct_parameter.correct_name(name, table_name, request, parameter, filter, suggestion)
  local columns = suggest_columns(name, table_name, request, filter)
  -- A value with an operator is meant for a column.
  local is_filter = columns and parameter and parameter.value == filter
  local meaning = parameter and not is_filter and find_meaning(name)
  local reserved = parameter and not meaning and find_columns.find_nearest(name, RESERVED)
  return ("`%s` is not a column of `%s`. "):format(show(name), table_name)
    .. (meaning and advise(meaning, parameter, request)
      or reserved and ("Write `%s=%s`."):format(reserved, show(parameter.value))
      or (columns or suggestion and ("Did you mean `%s`? "):format(suggestion) or "") .. "The page /reference of the API's website lists the columns.")
end

-- What other APIs call PostgREST's operators, also as the last character of a name before "=".
local OPERATORS = {
  eq = "eq", equals = "eq", is = "eq", neq = "neq", ne = "neq", ["not"] = "neq", gt = "gt", after = "gt", gte = "gte", ge = "gte", min = "gte",
  between = "gte", lt = "lt", before = "lt", lte = "lte", le = "lte", max = "lte", like = "like", ilike = "ilike", contains = "ilike",
  [">"] = "gte", ["<"] = "lte", ["!"] = "neq",
}

-- How people write values, and how PostgREST reads them. The first pattern that fits applies.
local VALUES = {
  { "^null$", "is.null" },
  { "^$", "is.null" },
  { "^>=(.*)", "gte.%1" },
  { "^<=(.*)", "lte.%1" },
  { "^>(.*)", "gt.%1" },
  { "^<(.*)", "lt.%1" },
  { "^!=?(.*)", "neq.%1" },
  { "^=+(.*)", "eq.%1" },
  { "^in%W*(.-)[%])}]?$", "in.(%1)" },
  { "^([^ ,]+,[^ ].*)$", "in.(%1)" },
  { "^(.*[%%*].*)$", "ilike.%1" },
  { "^(.*)$", "eq.%1" },
}

local function correct_value(value)
  if value:lower():gsub("%W", ""):find("^i?s?notnull$") then
    return "not.is.null"
  end
  local word, mark, rest = value:match("^(%a+)([.:=]?)(.+)$")
  local operator = word and (mark ~= "" or rest:find("^%d")) and OPERATORS[word:lower()]
  if operator then
    return operator .. "." .. rest
  end
  for _, row in ipairs(VALUES) do
    if value:find(row[1]) then
      return (value:gsub(row[1], row[2], 1):gsub("%%", "*"))
    end
  end
end

-- Names that contain an operator: filter[column], column[gte], column__gte, column> and column.gte.
local NAMES = { "^%a+%[([%w_]+)%]%[?%$?(%a*)", "^([%w_]+)%[%$?(%a*)%]", "^([%w_]-)__(%a+)$", "^([%w_]+)([<>!])$", "^([%w_]+)%.(%a+)$" }

-- The columns that a name may mean, and the operator in it: the last is the whole name without its path.
local function find_column(parameter, columns)
  local is_column = {}
  for _, column in ipairs(columns) do
    is_column[column] = true
  end
  for _, pattern in ipairs(NAMES) do
    local column, operator = parameter.name:match(pattern)
    if is_column[column or ""] then
      return column, OPERATORS[operator:lower()]
    end
  end
  return is_column[parameter.keyword] and parameter.name
end

--- A hint for a parameter whose value is no filter.
--- @param table_name  the table whose rows it filters
function correct_parameter.correct_filter(parameter, table_name, request)
  local column, operator = find_column(parameter, correct_parameter.list_tables(request)[table_name] or {})
  if not column then
    return correct_parameter.correct_name(parameter.keyword, table_name, request, parameter, correct_value(parameter.value))
  end
  local value = show((parameter.value:gsub("[\"']", "")))
  return ("`%s` needs an operator before its value: write `%s=%s`. Other operators are neq, gt, gte, lt, lte, in and ilike."):format(
    show(parameter.name), column, correct_value(operator and operator .. "." .. value or value)
  )
end

return correct_parameter
