-- The API version that a request asks for.

local served_tables = require "kong.plugins.single-audit.served_tables"

--- @param profile  the header accept-profile, or nil
return function(profile)
  return profile ~= "" and profile or served_tables.default
end
