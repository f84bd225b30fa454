-- Answers 401 if that needs no lookup in PostgreSQL.

local refusal = require "kong.plugins.single-audit.refusal"

local HINT = "Send your API key in the header x-api-key, or try DEMO_KEY. The home page says how to get a key of your own."
local CHALLENGE = "Key"

local function refuse(code, message)
  return refusal.new(401, code, message, HINT, { ["WWW-Authenticate"] = CHALLENGE })
end

--- @param key  { is_missing, hash }
--- @return a refusal, or nil
return function(key)
  if key.is_missing then
    return refuse("API_KEY_MISSING", "The request has no API key.")
  end
  if not key.hash then
    return refuse("API_KEY_INVALID", "The API key is not valid.")
  end
end
