-- Finds the tables of the version that a request asks for.

local served_tables = require "kong.plugins.single-audit.served_tables"

--- @param lists    "keys" or "columns": what to return of each table
--- @param profile  the header accept-profile, or nil
return function(lists, profile)
  return served_tables[lists][profile ~= "" and profile or served_tables.default] or {}
end
