-- Splits a select into its items, as PostgREST's parser does.
-- No pattern here may rescan the text from each position: 32 KB would take seconds.

-- Whether the current item has a JSON path, in whose keys "!" and quotation marks are ordinary characters.
local function has_path(text, had_path)
  local item = text:match("^.*[,(](.*)$")
  return (item == nil and had_path) or (item or text):find("->", 1, true) ~= nil
end

-- Removes the quotation marks from quoted names, and replaces their special characters. Returns nil if quotation marks
-- enclose only part of a name.
local function unquote(text)
  text = "," .. text
  local parts, from, is_path = {}, 1, false
  for open, name, after in text:gmatch('()"([^"\\]*)"()') do
    local before = text:sub(from, open - 1)
    is_path = has_path(before, is_path)
    if before:find('"', 1, true) or not before:find(is_path and ">[ \t]*$" or "[,(:!.>][ \t]*$") then
      return nil
    end
    parts[#parts + 1] = before .. name:gsub("[^%w]", "_")
    from = after
  end
  local rest = text:sub(from)
  return not rest:find('"', 1, true) and (table.concat(parts) .. rest):sub(2) or nil
end

local function trim_start(text)
  return text:match("^[ \t.]*(.*)$")
end

-- An item is [...][alias:]name[!hint][->path][::cast].
local function parse_item(text)
  local alias, named = trim_start(text):match("^([^:]*):([^:].*)$")
  local plain = trim_start(named or text)
  return {
    alias = alias,
    name = plain:match("^[%w_ $*]*"):match("^.*[^ ]") or "",
    is_bytea = text:lower():find("::[ \t]*bytea") ~= nil,
  }
end

--- @param select  the decoded value of the parameter
--- @param most    how many items to read: refuse_query counts those that commas separate
--- @return a list of { alias (or nil), name, is_bytea, is_table, depth (1 at the top), scope (the same for items that
---   belong to one embedded table), content (an embedded table's scope) }; or nil if quotation marks enclose only part of a name
return function(select, most)
  local text = unquote(select)
  if not text then
    return nil
  end
  local items, scopes, scope_count = {}, { 1 }, 1
  for part, mark in (text .. ","):gmatch("([^,()]*)([,()])") do
    local item = parse_item(part)
    item.depth, item.scope, item.is_table = #scopes, scopes[#scopes], mark == "("
    items[#items + 1] = item
    if mark == "(" then
      scope_count = scope_count + 1
      scopes[#scopes + 1], item.content = scope_count, scope_count
    elseif mark == ")" and #scopes > 1 then
      scopes[#scopes] = nil
    end
    if #items > most then
      break
    end
  end
  return items
end
