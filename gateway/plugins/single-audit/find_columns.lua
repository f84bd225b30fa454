-- Finds the columns that a client meant by a name that no column has.

local served_tables = require "kong.plugins.single-audit.served_tables"

local LONGEST_NAME = 60
-- The table with a row for each report, which other tables embed.
local REPORTS = "general"

local find_columns = {}

-- The number of letters from the first to the last difference between two names.
local function measure_difference(a, b)
  local least, before, after = math.min(#a, #b), 0, 0
  while before < least and a:byte(before + 1) == b:byte(before + 1) do
    before = before + 1
  end
  while after < least - before and a:byte(-after - 1) == b:byte(-after - 1) do
    after = after + 1
  end
  return math.max(#a, #b) - before - after
end

--- The name that a misspelt one means, or nil.
function find_columns.find_nearest(name, candidates)
  local plain = name:lower():gsub("%W", ""):gsub("_", "")
  local nearest, least = nil, math.max(1, math.floor(#plain / 4)) + 1
  for _, candidate in ipairs(#plain > 1 and #plain <= LONGEST_NAME and candidates or {}) do
    local difference = measure_difference(plain, (candidate:gsub("_", "")))
    if difference < least then
      nearest, least = candidate, difference
    end
  end
  return nearest
end

local function has(columns, name)
  for _, column in ipairs(columns or {}) do
    if column == name then
      return true
    end
  end
  return false
end

-- Whether most tables have a column of this name.
local function is_common(name, tables)
  local count, most = 0, 0
  for _, columns in pairs(tables) do
    count, most = count + (has(columns, name) and 1 or 0), most + 0.5
  end
  return count > most
end

-- The shortest column whose name matches the pattern, preferably one that most tables have.
local function find_by_word(pattern, columns, tables)
  local found, length
  for _, column in ipairs(columns or {}) do
    if ("_" .. column .. "_"):find(pattern) then
      local size = is_common(column, tables) and 0 or #column
      if not found or size < length then
        found, length = column, size
      end
    end
  end
  return found
end

-- A column that ends with the word, or a shorter one that contains it.
local function find_last_word(word, columns, tables)
  return find_by_word("_" .. word .. "_$", columns, tables) and find_by_word("_" .. word .. "_", columns, tables)
end

-- The columns that descriptions call by this term, or by a longer one that begins with it, as for assistance_listing.
local function find_called(term, called)
  for longer, columns in pairs(called or {}) do
    if (longer .. "_"):sub(1, #term + 1) == term .. "_" then
      return columns
    end
  end
end

-- The tables' names: reports first, and totals last. Shorter names come first, because tables from files have shorter names than
-- the tables that are computed from them.
local function sort_tables(tables)
  local names, places = {}, {}
  for name, columns in pairs(tables) do
    names[#names + 1] = name
    places[name] = ("%d%03d%s"):format(name == REPORTS and 1 or has(columns, "report_id") and 2 or 3, #name, name)
  end
  table.sort(names, function(a, b) return places[a] < places[b] end)
  return names
end

-- The first table that has a column of this name, or columns that descriptions call by it.
local function find_elsewhere(word, tables, called)
  for _, name in ipairs(sort_tables(tables)) do
    local columns = has(tables[name], word) and { word } or find_called(word, called[name])
    if columns then
      return columns, name
    end
  end
end

local function list_words(name)
  local whole = name:gsub("(%l)(%u)", "%1_%2"):lower():gsub("%W+", "_")
  local words = { whole }
  for word in whole:gmatch("%w+") do
    words[#words + 1] = word
  end
  return words
end

--- @param name        as the client wrote it
--- @param table_name  the table that has no such column
--- @param version     the API version
--- @return the table's columns that the name may mean, or nil; and another table's columns, and that table
function find_columns.find(name, table_name, version)
  local tables, called = served_tables.columns[version] or {}, served_tables.called[version] or {}
  local columns, words = tables[table_name] or {}, #name <= LONGEST_NAME and list_words(name) or {}
  if #words < 2 then
    return nil
  end
  local elsewhere, other = find_elsewhere(words[1], tables, called)
  local own = find_last_word(words[1], columns, tables) or not elsewhere and find_columns.find_nearest(name, columns)
  if own then
    return { own }
  end
  for _, word in ipairs(words) do
    local found = find_called(word, called[table_name])
    if found then
      return found
    end
  end
  local contained = find_by_word("_" .. words[1] .. "_", columns, tables)
  contained = contained and { contained }
  if elsewhere then
    return contained, elsewhere, other
  end
  local ends = {}
  for _, word in ipairs(has(columns, "report_id") and words or {}) do
    ends[#ends + 1] = find_last_word(word, tables[REPORTS], tables)
  end
  local of_report = find_by_word("", ends, tables)
  if of_report then
    local is_own = has(columns, of_report)
    return is_own and { of_report } or contained, not is_own and { of_report } or nil, REPORTS
  end
  for _, word in ipairs(contained and {} or words) do
    elsewhere, other = find_elsewhere(word, tables, called)
    if elsewhere then
      return nil, elsewhere, other
    end
  end
  return contained
end

--- Whether the rows of one table can embed the rows of the other.
function find_columns.can_embed(table_name, other, version)
  local tables = served_tables.columns[version]
  return (table_name == REPORTS or other == REPORTS) and has(tables[table_name], "report_id") and has(tables[other], "report_id")
end

return find_columns
