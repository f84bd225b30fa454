-- Removes one of the gateway's own parameters from a query string. A percent-encoded name counts as a filter, and stays.

--- @param query  the query string, as sent
--- @param name   the parameter's name, of letters and underscores
--- @return the rest of the query string, and the first value, as sent; no value if the query has no such parameter
return function(query, name)
  if not query:find(name .. "=", 1, true) then
    return query
  end
  local pattern = "[&;]" .. name .. "=([^&;]*)"
  query = "&" .. query
  local value = query:match(pattern)
  return query:gsub(pattern, ""):gsub("^[&;]", ""), value
end
