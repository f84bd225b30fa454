-- Checks a plugin's configuration against its schema, with the rules of Kong's schemas that gateway/plugins uses.

local check_value

local function is_of_type(value, expected)
  if expected == "record" or expected == "map" then
    expected = "table"
  end
  return math.type(value) == expected or type(value) == expected
end

local function check_fields(path, fields, given)
  local known = {}
  for _, field in ipairs(fields) do
    local name, rules = next(field)
    known[name] = true
    if given[name] ~= nil or rules.required then
      check_value(path == "" and name or path .. "." .. name, rules, given[name])
    end
  end
  for name in pairs(given) do
    local place = path == "" and name or path .. "." .. name
    assert(known[name], place .. ": the schema has no such field")
  end
end

-- Each returns whether the value follows the rule, and what the rule expects.
local checks = {
  gt = function(value, least) return value > least, "more than " .. least end,
  len_min = function(value, least) return #value >= least, "at least " .. least .. " characters" end,
  match = function(value, pattern) return value:find(pattern) ~= nil, "a value that matches " .. pattern end,
  one_of = function(value, choices)
    return ("\n" .. table.concat(choices, "\n") .. "\n"):find("\n" .. value .. "\n", 1, true) ~= nil,
      "one of " .. table.concat(choices, ", ")
  end,
}
local ignored = { type = true, required = true, description = true, referenceable = true, encrypted = true }
local nested = { fields = true, keys = true, values = true }

function check_value(path, rules, value)
  assert(is_of_type(value, rules.type), path .. ": expected type " .. rules.type)
  for name, argument in pairs(rules) do
    if checks[name] then
      local is_valid, expected = checks[name](value, argument)
      assert(is_valid, path .. ": expected " .. tostring(expected))
    end
    assert(checks[name] or ignored[name] or nested[name], path .. ": the schema's rule " .. name .. " is not implemented")
  end
  if rules.type == "record" then
    check_fields(path, rules.fields, value)
  elseif rules.type == "map" then
    for key, item in pairs(value) do
      check_value(path .. "." .. key, rules.keys, key)
      check_value(path .. "." .. key, rules.values, item)
    end
  end
end

--- @param fields  the schema's fields, each a table with one name and its rules
--- @param given  the configuration
return function(fields, given)
  check_fields("", fields, given)
end
