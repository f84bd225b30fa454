-- Finds the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, because an IPv6 client
-- has all the addresses in its /64.

--- @param address  as nginx writes it: lowercase, without leading zeros, an IPv4-mapped address as ::ffff:192.0.2.1
return function(address)
  local ipv4 = address:match("^::ffff:(%d+%.[%d.]+)$") or address
  if not ipv4:find(":", 1, true) then
    return ipv4
  end
  -- "::" stands for all groups that are missing.
  local _, groups = address:gsub(":", "")
  local whole = address:gsub("^::", "0::"):gsub("::", ":" .. ("0:"):rep(8 - groups))
  return (whole:match("^%x+:%x+:%x+:%x+") or whole) .. "::/64"
end
