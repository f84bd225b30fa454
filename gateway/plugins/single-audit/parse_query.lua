-- Splits a query string into its parameters as PostgREST does, which treats ";" like "&".

--- @param query  the query string, as sent
--- @param most   how many parameters to read
--- @return a list of { name, value, keyword (the name without the embedded table: "limit" of "findings.limit") }, decoded;
---   and whether there are more
return function(query, most)
  local parameters = {}
  for text in query:gmatch("[^&;]+") do
    if #parameters == most then
      return parameters, true
    end
    local name, value = text:match("^([^=]*)=?(.*)$")
    name = ngx.unescape_uri(name)
    parameters[#parameters + 1] = { name = name, value = ngx.unescape_uri(value), keyword = name:match("^.*%.(.*)$") or name }
  end
  return parameters, false
end
