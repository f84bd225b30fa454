-- Refuses a select that inflates the response: a column named twice, long aliases, casts that print each byte as two,
-- tables embedded often or deeply. PostgreSQL limits the size of embedded lists (request.limit_embedded_bytes).

local parse_select = require "kong.plugins.single-audit.parse_select"
local refusal = require "kong.plugins.single-audit.refusal"

local refuse = refusal.bad_request

local function refuse_aliases(items, config)
  local longer = 0
  for _, item in ipairs(items) do
    longer = longer + math.max(item.alias and #item.alias - #item.name or 0, 0)
  end
  if longer > config.longest_aliases then
    return refuse(
      "The aliases are too long.",
      "Shorten the aliases. An alias may be longer than its column's name, but this extra length may total at most " .. config.longest_aliases .. " bytes."
    )
  end
end

local function refuse_casts(items)
  for _, item in ipairs(items) do
    if item.is_bytea then
      return refuse("A cast to bytea is not allowed.", "Select the column without a cast.")
    end
  end
end

local function refuse_repeated_columns(items)
  local named = {}
  for _, item in ipairs(items) do
    if not item.is_table and item.name ~= "" then
      local columns = named[item.scope] or {}
      if columns[item.name] or columns["*"] or (item.name == "*" and next(columns)) then
        return refuse("The select names a column twice.", "Name each column once. * already includes all columns.")
      end
      columns[item.name], named[item.scope] = true, columns
    end
  end
end

-- The embedded tables, and for each how often its scope has embedded it so far.
local function list_tables(items)
  local tables, times = {}, {}
  for _, item in ipairs(items) do
    if item.is_table then
      local key = item.scope .. "(" .. item.name
      times[key] = (times[key] or 0) + 1
      tables[#tables + 1] = { name = item.name, depth = item.depth, times = times[key] }
    end
  end
  return tables
end

-- A report adds 2 kB to each of 20,000 rows.
local function refuse_general(tables)
  for _, embedded in ipairs(tables) do
    if embedded.name == "general" and (embedded.depth > 1 or embedded.times > 1) then
      return refuse(
        "The request embeds \"general\" more than once, or inside another embedded table.",
        "Embed \"general\" only once, at the top level of select. An embedded row always belongs to the same report as its parent row, so one copy is enough."
      )
    end
  end
end

local function refuse_tables(tables, config)
  local is_refused = #tables > config.most_embedded_tables
  for _, embedded in ipairs(tables) do
    is_refused = is_refused or embedded.depth > config.deepest_embedding or embedded.times > 2
  end
  if is_refused then
    return refuse(
      "The select embeds too many tables, or nests them too deeply.",
      "Embed at most " .. config.most_embedded_tables .. " tables, at most " .. config.deepest_embedding
        .. " deep, and no table more than twice at the same level."
    )
  end
end

local function refuse_items(items, config)
  if not items then
    return refuse("A name is only partly in quotation marks.", "Put the whole name in quotation marks.")
  end
  local tables = list_tables(items)
  return refuse_aliases(items, config)
    or refuse_casts(items)
    or refuse_general(tables)
    or refuse_tables(tables, config)
    or refuse_repeated_columns(items)
end

--- @param parameters  the query's parameters (parse_query)
--- @return a refusal, or nil
return function(parameters, config)
  local refused
  for _, parameter in ipairs(parameters) do
    if parameter.name == "select" then
      refused = refused or refuse_items(parse_select(parameter.value, config.most_items), config)
    end
  end
  return refused
end
