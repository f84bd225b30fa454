-- Finds the report ID that a request filters by. PostgreSQL needs it to answer 404 for a report that does not exist
-- (request.authorize). IDs have 25 ASCII characters, so cutting a longer value, or replacing its other characters to
-- keep it valid UTF-8, never turns it into an ID.

--- @param parameters  the query's parameters (parse_query)
--- @return the filter, such as eq.2023-06-GSAFAC-0000000001, or nil for every other operator
return function(parameters)
  for _, parameter in ipairs(parameters) do
    if parameter.name == "report_id" then
      return parameter.value:find("^eq%.") and (parameter.value:sub(1, 100):gsub("[\128-\255]", "?")) or nil
    end
  end
end
