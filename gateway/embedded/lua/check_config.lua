-- Checks a plugin's configuration against its schema, with the rules of Kong's schemas that gateway/plugins uses.

-- Each returns whether the value follows the rule, and what the rule expects.
local checks = {
  type = function(value, expected)
    local is_table = expected == "record" or expected == "map"
    return type(value) == (is_table and "table" or expected) or math.type(value) == expected, "type " .. expected
  end,
  gt = function(value, least) return value > least, "more than " .. least end,
  len_min = function(value, least) return #value >= least, "at least " .. least .. " characters" end,
  match = function(value, pattern) return value:find(pattern) ~= nil, "a value that matches " .. pattern end,
  one_of = function(value, choices)
    local list = table.concat(choices, ", ")
    return (", " .. list .. ", "):find(", " .. value .. ", ", 1, true) ~= nil, "one of " .. list
  end,
}
local other_rules = {
  required = true, description = true, referenceable = true, encrypted = true, fields = true, keys = true, values = true,
}

local check_fields

local function check_rule(path, name, argument, value)
  assert(checks[name] or other_rules[name], path .. ": the schema's rule " .. name .. " is not implemented")
  if checks[name] then
    local is_valid, expected = checks[name](value, argument)
    assert(is_valid, path .. ": expected " .. expected)
  end
end

local function check_value(path, rules, value)
  check_rule(path, "type", rules.type, value)
  for name, argument in pairs(rules) do
    check_rule(path, name, argument, value)
  end
  if rules.type == "record" then
    check_fields(path .. ".", rules.fields, value)
  elseif rules.type == "map" then
    for key, item in pairs(value) do
      check_value(path .. "." .. key, rules.keys, key)
      check_value(path .. "." .. key, rules.values, item)
    end
  end
end

--- @param prefix  the path of the fields, which errors name; "" or with a dot at its end
--- @param fields  each a table with one name and its rules
function check_fields(prefix, fields, given)
  local known = {}
  for _, field in ipairs(fields) do
    local name, rules = next(field)
    known[name] = true
    if given[name] ~= nil or rules.required then
      check_value(prefix .. name, rules, given[name])
    end
  end
  for name in pairs(given) do
    assert(known[name], prefix .. name .. ": the schema has no such field")
  end
end

return check_fields
