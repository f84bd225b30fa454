-- Finds the report ID by which a request filters, which PostgreSQL needs to answer 404 for a report that does not exist
-- (request.authorize). IDs have 25 ASCII characters: longer ones are cut and others replaced, since they do not exist
-- either, and half a character would not be UTF-8.

--- @param value  the query parameter report_id, decoded; true or nil where it has no value
--- @return the filter, such as eq.2023-06-GSAFAC-0000000001, or nil for every other operator
return function(value)
  if type(value) == "string" and value:find("^eq%.") then
    return (value:sub(1, 100):gsub("[\128-\255]", "?"))
  end
end
