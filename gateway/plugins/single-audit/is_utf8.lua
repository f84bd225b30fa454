-- Tells whether bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. PostgREST fails on
-- other bytes. It loops over bytes, because patterns take ten times as long for 32 KB.

-- For each first byte: how many bytes follow, and the range of the second one.
local SEQUENCES = {}
for _, row in ipairs({
  { 0xC2, 0xDF, 1, 0x80, 0xBF },
  { 0xE0, 0xE0, 2, 0xA0, 0xBF },
  { 0xE1, 0xEC, 2, 0x80, 0xBF },
  { 0xED, 0xED, 2, 0x80, 0x9F },
  { 0xEE, 0xEF, 2, 0x80, 0xBF },
  { 0xF0, 0xF0, 3, 0x90, 0xBF },
  { 0xF1, 0xF3, 3, 0x80, 0xBF },
  { 0xF4, 0xF4, 3, 0x80, 0x8F },
}) do
  for first = row[1], row[2] do
    SEQUENCES[first] = { length = row[3], low = row[4], high = row[5] }
  end
end

local function is_between(byte, low, high)
  return byte ~= nil and byte >= low and byte <= high
end

-- The position after the character at this position; nil if there is no valid character.
local function skip_character(text, at)
  local sequence = SEQUENCES[text:byte(at)]
  if not sequence or not is_between(text:byte(at + 1), sequence.low, sequence.high) then
    return nil
  end
  for following = 2, sequence.length do
    if not is_between(text:byte(at + following), 0x80, 0xBF) then
      return nil
    end
  end
  return at + sequence.length + 1
end

return function(text)
  local at = text:find("[\128-\255]")
  if not at then
    return true
  end
  while at and at <= #text do
    at = text:byte(at) < 0x80 and at + 1 or skip_character(text, at)
  end
  return at ~= nil
end
