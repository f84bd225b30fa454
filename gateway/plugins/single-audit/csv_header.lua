-- Finds the header line of a CSV response without rows, which PostgREST leaves out.

-- An item is [alias:]name[::cast].
local function find_name(item)
  local column = item:gsub("::[%w_]+$", "")
  return column:match("^([%w_]+):[%w_]+$") or column:match("^[%w_]+$")
end

--- @param parameters  the query's parameters (parse_query)
--- @return the column names, separated by commas; nil unless select is one list of columns, without * and embedded tables
return function(parameters)
  local names
  for _, parameter in ipairs(parameters) do
    if parameter.name == "select" then
      if names then
        return nil
      end
      names = {}
      for item in (parameter.value .. ","):gmatch("([^,]*),") do
        local name = find_name(item)
        if not name then
          return nil
        end
        names[#names + 1] = name
      end
    end
  end
  return names and table.concat(names, ",")
end
