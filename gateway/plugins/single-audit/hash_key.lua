-- Replaces an API key with its SHA-256, so that nothing behind the gateway ever holds a key.
--
-- A key consists of its tier, "_", 32 random letters and digits, and the first 8 hexadecimal digits of the SHA-256 of
-- all these (access.issue_key). Older keys are 43 letters and digits. The tier selects a rate limit and grants nothing:
-- PostgreSQL finds the key by the hash of the whole key.

-- Longer than any key. Hashing all that a client may send would take long.
local LONGEST_KEY = 200

--- @param key                what the client sent
--- @param demonstration_key  the public key, of the tier "demo"
--- @param sha256_hex         function from bytes to 64 lowercase hexadecimal digits
--- @return the hash, or nil if this cannot be a key; and the tier, if the key names one
return function(key, demonstration_key, sha256_hex)
  if key == demonstration_key then
    return sha256_hex(key), "demo"
  end
  if #key > LONGEST_KEY then
    return nil
  end
  if #key == 43 and not key:find("%W") then
    return sha256_hex(key)
  end
  local tier, random, checksum = key:match("^(%l[%l%d]*)_(%w+)(%x%x%x%x%x%x%x%x)$")
  if not tier or sha256_hex(tier .. "_" .. random):sub(1, 8) ~= checksum then
    return nil
  end
  return sha256_hex(key), tier
end
