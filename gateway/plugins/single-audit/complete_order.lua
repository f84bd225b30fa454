-- Completes the orders of a query, so that pages neither overlap nor skip rows: PostgreSQL returns rows that an order does not
-- tell apart in any order, and in another for each page.
--
-- * Each `order` ends with its table's key (served_tables.lua), in the direction of its last column, so that an index can be read
--   backward. The numbers of rows always ascend, because they hold the order of the file.
-- * In `general`, nulls come last in descending order: the rows of suppressed submissions, which have no values.
-- * An embedded list of which a request reads a part is ordered by its key.
--
-- An order that cannot be read stays as it is, and PostgREST refuses it.

local get_version = require "kong.plugins.single-audit.get_version"
local served_tables = require "kong.plugins.single-audit.served_tables"
local parse_select = require "kong.plugins.single-audit.parse_select"

-- Columns that each row of `general` has.
local NEVER_NULL = { report_id = true, is_public = true }

-- The position of the quotation mark that ends a quoted name, or nil.
local function find_end(order, at)
  repeat
    at = order:find('["\\]', at + 1)
    local is_escape = at and order:sub(at, at) == "\\"
    at = is_escape and at + 1 or at
  until not at or not is_escape
  return at
end

-- Splits an order at its commas. Returns nil if a quotation mark or a parenthesis is not closed.
local function split(order)
  local terms, from, depth, at = {}, 1, 0, order:find('[",()]')
  while at do
    local char = order:sub(at, at)
    if char == '"' then
      at = find_end(order, at)
      if not at then
        return nil
      end
    elseif char == "," and depth == 0 then
      terms[#terms + 1] = order:sub(from, at - 1)
      from = at + 1
    elseif char ~= "," then
      depth = depth + (char == "(" and 1 or -1)
    end
    at = order:find('[",()]', at + 1)
  end
  terms[#terms + 1] = order:sub(from)
  return depth == 0 and terms or nil
end

local function trim(text)
  return text:match("^%s*(.-)%s*$")
end

local function unquote(name)
  name = trim(name)
  return (name:match('^"(.*)"$') or name):gsub("\\(.)", "%1")
end

-- A term is column[.asc|.desc][.nullsfirst|.nullslast], or table(column)… for a column of an embedded table.
local function parse_term(text)
  text = trim(text)
  local rest, nulls = text:match("^(.+)%.(nulls%l+)$")
  local name, direction = (rest or text):match("^(.+)%.(%l+)$")
  if direction ~= "asc" and direction ~= "desc" then
    name, direction = rest or text, "asc"
  end
  local embedded, column = name:match("^([^(]+)%((.+)%)$")
  return {
    text = text, direction = direction, has_nulls = nulls ~= nil,
    column = unquote(column or name), embedded = embedded and unquote(embedded),
  }
end

local function put_nulls_last(term, name)
  local is_needed = name == "general" and term.direction == "desc" and not term.has_nulls and not NEVER_NULL[term.column]
  return is_needed and term.text .. ".nullslast" or term.text
end

-- Appends what the order lacks of a key.
local function append_key(texts, key, named, direction)
  for _, column in ipairs(key) do
    if not named[column] then
      texts[#texts + 1] = column .. (direction == "desc" and column ~= "row_number" and ".desc" or "")
    end
  end
  return table.concat(texts, ",")
end

--- @param order  the value of the parameter; empty for none
--- @param name   the table whose rows it orders
--- @param find   returns the name of an embedded table
local function complete(order, name, keys, find)
  local terms = order == "" and {} or split(order)
  if not terms then
    return order
  end
  local texts, named, direction = {}, {}, nil
  for _, text in ipairs(terms) do
    local term = parse_term(text)
    texts[#texts + 1] = put_nulls_last(term, term.embedded and find(term.embedded) or name)
    named[term.embedded and "" or term.column] = true
    direction = term.direction
  end
  return append_key(texts, keys[name], named, direction)
end

-- Encodes what a URL may not contain. Kong forwards the rest as it is.
local function encode(text)
  return (text:gsub("[^%w%-._~,()*:!$]", function(char) return ("%%%02X"):format(char:byte()) end))
end

-- Finds the tables that a select embeds: a function that returns the table's name for a path of names or aliases.
local function read_embeds(parameters, most_items)
  local items
  for _, parameter in ipairs(parameters) do
    items = items or parameter.name == "select" and parse_select(parameter.value, most_items)
  end
  return function(path)
    local scope, found = 1, nil
    for name in path:gmatch("[^.]+") do
      found = nil
      for _, item in ipairs(items or {}) do
        if item.is_table and item.scope == scope and (item.alias or item.name) == name then
          found = item
        end
      end
      if not found then
        return nil
      end
      scope = found.content
    end
    return found and found.name
  end
end

local function is_whole(key, filters)
  for _, column in ipairs(key) do
    if filters[column] ~= "eq" then
      return false
    end
  end
  return true
end

-- What request.decide() has to do so that all pages have the same order: "any" if every plan returns the same rows, because they are
-- sorted, at most one or not sent; "file" if PostgreSQL has to read the filtered rows in the order of the file. It reads whole
-- tables in no other order.
local function find_row_order(is_ordered, filters, key, has_rows)
  if is_ordered or not has_rows or is_whole(key, filters) then
    return "any"
  end
  return next(filters) and "file"
end

-- Parameters that choose a part of an embedded list.
local PARTS = { limit = true, offset = true }
local NOT_FILTERS = { select = true, order = true, offset = true, columns = true, on_conflict = true }

local function split_query(query)
  local texts = {}
  for text in query:gmatch("[^&;]+") do
    texts[#texts + 1] = text
  end
  return texts
end

-- The embedded table's path in a name such as findings.order; nil for a parameter of the table itself, such as not.or.
local function find_path(parameter)
  local path = parameter.name:match("^(.*)%.[^.]*$")
  return path ~= "not" and path or nil
end

--- @param request     { method, query (as sent), parameters (parse_query), path }
--- @param profile     the API version that the client asks for, or nil
--- @param most_items  as for parse_select
--- @return the completed query string, and the order of the rows (find_row_order)
return function(request, profile, most_items)
  local keys = served_tables.keys[get_version(profile)] or {}
  local name = request.path:match("^/([%w_]+)$")
  if not keys[name] then
    return request.query
  end
  local find = read_embeds(request.parameters, most_items)
  local texts, filters, is_ordered, parts, paths = split_query(request.query), {}, {}, {}, {}
  local greatest_limit
  for place, parameter in ipairs(request.parameters) do
    local path = find_path(parameter)
    local ordered = name
    if path then
      ordered = find(path)
    end
    if parameter.keyword == "order" and parameter.value ~= "" and keys[ordered] then
      texts[place] = encode(parameter.name) .. "=" .. encode(complete(parameter.value, ordered, keys, find))
      is_ordered[path or ""] = true
    elseif PARTS[parameter.keyword] and path and keys[ordered] and not parts[path] then
      parts[path], paths[#paths + 1] = ordered, path
    elseif parameter.name == "limit" then
      greatest_limit = math.max(greatest_limit or 0, tonumber(parameter.value) or 1)
    elseif not path and not NOT_FILTERS[parameter.keyword] then
      filters[parameter.name] = filters[parameter.name] == "eq" and "eq" or parameter.value:match("^(%l*)%.") or ""
    end
  end
  for _, path in ipairs(paths) do
    if not is_ordered[path] then
      texts[#texts + 1] = encode(path) .. ".order=" .. complete("", parts[path], keys, find)
    end
  end
  local has_rows = request.method ~= "HEAD" and greatest_limit ~= 0
  return table.concat(texts, "&"), find_row_order(is_ordered[""], filters, keys[name], has_rows)
end
