-- Refuses a select that inflates the response: a column named twice, long aliases, casts that print each byte as two,
-- tables embedded often or deeply. PostgreSQL limits the size of embedded lists (request.limit_embedded_bytes).
-- A report adds 2 kB to each of 20,000 rows, so general may be embedded only once, at the top level.

local refuse = require("kong.plugins.single-audit.refusal").bad_request

-- Removes the quotation marks from quoted names. Returns nil if quotation marks enclose only part of a name.
-- No pattern here or below may rescan the text from each position: 32 KB would take seconds.
local function unquote(text)
  text = "," .. text
  local parts, from = {}, 1
  for open, name, after in text:gmatch('()"([^"\\]*)"()') do
    local before = text:sub(from, open - 1)
    if before:find('"', 1, true) or not before:find("[,(:!.>][ \t]*$") then
      return nil
    end
    parts[#parts + 1] = before .. name:gsub("[^%w]", "_")
    from = after
  end
  local rest = text:sub(from)
  return not rest:find('"', 1, true) and (table.concat(parts) .. rest):sub(2) or nil
end

local function refuse_table(name, times, tables, depth, config)
  if name == "general" and (depth > 1 or times > 1) then
    return refuse(
      "The request embeds \"general\" more than once, or inside another embedded table.",
      "Embed \"general\" only once, at the top level of select. An embedded row always belongs to the same report as its parent row, so one copy is enough."
    )
  end
  if tables > config.most_embedded_tables or depth > config.deepest_embedding or times > 2 then
    return refuse(
      "The select embeds too many tables, or nests them too deeply.",
      "Embed at most " .. config.most_embedded_tables .. " tables, at most " .. config.deepest_embedding
        .. " deep, and no table more than twice at the same level."
    )
  end
end

local function refuse_items(text, config)
  if not text then
    return refuse("A name is only partly in quotation marks.", "Put the whole name in quotation marks.")
  end
  local levels, tables, longer = { {} }, 0, 0
  for item, mark in (text .. ","):gmatch("([^,()]*)([,()])") do
    local level = levels[#levels]
    local plain = item:match("^[ \t.]*(.*)$")
    local alias, named = plain:match("^([^:]*):([^:].*)$")
    local name = (named and named:match("^[ \t.]*(.*)$") or plain):match("^[%w_ $*]*"):match("^.*[^ ]") or ""
    longer = longer + math.max(alias and #alias - #name or 0, 0)
    if longer > config.longest_aliases then
      return refuse(
        "The aliases are too long.",
        "Shorten the aliases. An alias may be longer than its column's name, but this extra length may total at most " .. config.longest_aliases .. " bytes."
      )
    end
    if item:lower():find("::[ \t]*bytea") then
      return refuse("A cast to bytea is not allowed.", "Select the column without a cast.")
    end
    if mark == "(" then
      local times = (level[name .. "("] or 0) + 1
      level[name .. "("] = times
      tables = tables + 1
      local refused = refuse_table(name, times, tables, #levels, config)
      if refused then
        return refused
      end
      levels[#levels + 1] = {}
    elseif name ~= "" then
      if level[name] or level["*"] or (name == "*" and level[1]) then
        return refuse("The select names a column twice.", "Name each column once. * already includes all columns.")
      end
      level[name], level[1] = true, true
    end
    if mark == ")" and #levels > 1 then
      levels[#levels] = nil
    end
  end
end

--- @param query  the query string, as sent
--- @return a refusal, or nil
return function(query, config)
  for parameter in query:gmatch("[^&]+") do
    local name, value = parameter:match("^([^=]*)=?(.*)$")
    if ngx.unescape_uri(name) == "select" then
      local refused = refuse_items(unquote(ngx.unescape_uri(value)), config)
      if refused then
        return refused
      end
    end
  end
end
