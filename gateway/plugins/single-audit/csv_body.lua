-- PostgREST writes CSV from the text of a composite value, in which PostgreSQL doubles each backslash. This undoes that
-- in a response that passes through chunk by chunk, and ends the last line, so that pages can be appended. If there are no rows
-- and select lists columns, it writes their names.

local csv_header = require "kong.plugins.single-audit.csv_header"

local LINE_BREAK = "\n"
-- PostgREST's response without rows.
local EMPTY = LINE_BREAK
local BACKSLASH = ("\\"):byte()

-- Whether the text ends in the first of two backslashes.
local function is_cut(text)
  local last = #text
  while text:byte(last) == BACKSLASH do
    last = last - 1
  end
  return (#text - last) % 2 == 1
end

-- Replaces each pair of backslashes by one. Most of a text has none, so it is copied in pieces.
local function halve(text)
  local parts, from = {}, 1
  local pair = text:find("\\\\", from, true)
  while pair do
    parts[#parts + 1] = text:sub(from, pair)
    from = pair + 2
    pair = text:find("\\\\", from, true)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

--- @param state    a table for one response: at first only its request's parameters (parse_query)
--- @param chunk    the next bytes of the response
--- @param is_last  whether the response ends with this chunk
--- @return the bytes that the client gets now
return function(state, chunk, is_last)
  local text = (state.held or "") .. chunk
  state.held = nil
  if not state.has_begun and text == EMPTY then
    if is_last then
      return (csv_header(state.parameters) or "") .. EMPTY
    end
    state.held = text
    return ""
  end
  state.has_begun = state.has_begun or text ~= ""
  if not is_last and is_cut(text) then
    text, state.held = text:sub(1, -2), "\\"
  end
  local is_complete = is_last and state.has_begun
  return halve(text) .. (is_complete and LINE_BREAK or "")
end
