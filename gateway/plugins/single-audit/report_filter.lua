-- Finds the report ID that a request filters by. PostgreSQL needs it to answer 404 for a report that does not exist
-- (request.authorize). IDs have 25 ASCII characters, so cutting a longer value, or replacing its other characters to
-- keep it valid UTF-8, never turns it into an ID.

--- @param query  the query string, as sent
--- @return the filter, such as eq.2023-06-GSAFAC-0000000001, or nil for every other operator
return function(query)
  local value = query:find("report_id=eq", 1, true) and ("&" .. query):match("&report_id=([^&]*)")
  value = value and ngx.unescape_uri(value)
  if value and value:find("^eq%.") then
    return (value:sub(1, 100):gsub("[\128-\255]", "?"))
  end
end
