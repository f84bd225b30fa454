-- Answers 401 if that needs no lookup in PostgreSQL, and 429 to an address that tries key after key.

local refusal = require "kong.plugins.single-audit.refusal"

local HINT = "Send your API key in the header x-api-key, or try DEMO_KEY. The home page says how to get a key of your own."
local CHALLENGE = "Key"

local function refuse(code, message)
  return refusal.new(401, code, message, HINT, { ["WWW-Authenticate"] = CHALLENGE })
end

--- @param key           { is_missing, hash }
--- @param unknown_keys  how many requests with unknown keys came from the client's address within a minute
--- @return a refusal, or nil
return function(key, unknown_keys, config)
  if key.is_missing then
    return refuse("API_KEY_MISSING", "The request has no API key.")
  end
  if not key.hash then
    return refuse("API_KEY_INVALID", "The API key is not valid.")
  end
  if unknown_keys >= config.unknown_keys_per_minute then
    return refusal.new(
      429, "too_many_unknown_keys", "Too many requests with unknown API keys came from this address.",
      "Check the key in the header x-api-key, and try again in a minute.", { ["Retry-After"] = "60" }
    )
  end
end
