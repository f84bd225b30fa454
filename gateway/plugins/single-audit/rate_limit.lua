-- Limits requests per calendar hour and day (UTC), for each key or each client network. gateway/kong.yml has the limits.
--
-- Each gateway numbers a client's requests in a dictionary that its workers share, and adds what the other gateways have
-- counted (redis_counts.lua). Numbers and not increments are exchanged, so a number that arrives late or twice counts once.
--
-- A key's first request counts when PostgreSQL has accepted the key. So made-up keys, which nginx counts by network (kong.env), leave
-- nothing here that could push out the counts of clients.

local refusal = require "kong.plugins.single-audit.refusal"

local PERIODS = { { name = "Hour", field = "hour", seconds = 3600 }, { name = "Day", field = "day", seconds = 86400 } }
-- With a longer key, each entry of the dictionary would take 256 bytes instead of 128.
local HASH_LENGTH = 32
-- Counts are kept a little longer than their window, so that late requests still find them.
local GRACE_SECONDS = 60

local rate_limit = {}

--- The windows in which a request counts.
--- @param limits   the plugin's setting: tier to { by, hour, day }
--- @param request  { tier, hash (of the key), network }
--- @param now      Unix time in seconds
--- @return a list of { name, by, limit, resets_in, key, lifetime }
function rate_limit.open_windows(limits, request, now)
  local tier = limits[request.tier] and request.tier or "default"
  local client = limits[tier].by == "network" and request.network or request.hash:sub(1, HASH_LENGTH)
  local windows = {}
  for _, period in ipairs(PERIODS) do
    local limit, start = limits[tier][period.field], now - now % period.seconds
    if limit then
      local resets_in = start + period.seconds - now
      windows[#windows + 1] = {
        name = period.name, by = limits[tier].by, limit = limit, resets_in = resets_in, lifetime = resets_in + GRACE_SECONDS,
        key = ("%s%d:%s:%s"):format(period.field:sub(1, 1), start / period.seconds, tier, client),
      }
    end
  end
  return windows
end

local function is_over(window)
  return window.others + window.number > window.limit
end

local function is_any_over(windows)
  for _, window in ipairs(windows) do
    if is_over(window) then
      return true
    end
  end
  return false
end

--- Numbers the request that is next in each window, without counting it.
--- @param counts  a dictionary like ngx.shared
--- @return whether one of the windows is full
function rate_limit.is_full(windows, counts)
  for _, window in ipairs(windows) do
    window.number = (counts:get(window.key) or 0) + 1
    window.others = counts:get("o:" .. window.key) or 0
  end
  return is_any_over(windows)
end

--- Whether PostgreSQL has accepted the key in one of the windows. A client network needs no key.
--- @param is_shared  nil, or a function that returns whether another gateway has counted requests in the windows
function rate_limit.has_begun(windows, is_shared)
  for _, window in ipairs(windows) do
    if window.by == "network" or window.number > 1 or window.others > 0 then
      return true
    end
  end
  return is_shared ~= nil and is_shared(windows)
end

local function add_one(windows, counts)
  for _, window in ipairs(windows) do
    window.number = counts:incr(window.key, 1, 0, window.lifetime)
  end
end

--- Counts a request in each window, or in none of them if one is full.
--- @param exchange  nil, or a function that tells the other gateways the windows' numbers, and raises window.others and
---   window.number to what they know
--- @return whether one of the windows is full
function rate_limit.count(windows, counts, exchange)
  add_one(windows, counts)
  if exchange then
    exchange(windows)
  end
  local full = is_any_over(windows)
  if full then
    for _, window in ipairs(windows) do
      counts:incr(window.key, -1)
    end
  end
  return full
end

--- Counts a request that was let pass before PostgreSQL had accepted its key.
--- @param tell  nil, or a function that tells the other gateways the windows' numbers later
function rate_limit.count_late(windows, counts, tell)
  add_one(windows, counts)
  if tell then
    tell(windows)
  end
end

--- The rate limit's headers. RateLimit-Limit and the like describe the window with the fewest requests left; of two such
--- windows, the longer one.
function rate_limit.headers(windows, is_refused)
  local headers, tightest = {}, nil
  for _, window in ipairs(windows) do
    local used = window.others + window.number - (is_refused and 1 or 0)
    window.remaining = math.max(0, window.limit - used)
    headers["X-RateLimit-Limit-" .. window.name] = window.limit
    headers["X-RateLimit-Remaining-" .. window.name] = window.remaining
    if not tightest or window.remaining <= tightest.remaining then
      tightest = window
    end
  end
  for _, prefix in ipairs({ "", "X-" }) do
    headers[prefix .. "RateLimit-Limit"] = tightest.limit
    headers[prefix .. "RateLimit-Remaining"] = tightest.remaining
  end
  headers["RateLimit-Reset"] = tightest.resets_in
  headers["Retry-After"] = is_refused and tightest.resets_in or nil
  return headers
end

function rate_limit.refuse(windows)
  return refusal.new(
    429, "OVER_RATE_LIMIT", "You have reached the rate limit. Wait the number of seconds in the header Retry-After.",
    "If you use DEMO_KEY, get your own key and send it in the header x-api-key. The API's website says how to get one.",
    rate_limit.headers(windows, true)
  )
end

return rate_limit
