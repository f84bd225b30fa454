-- Limits how many requests are in progress at a time: of a key, of a client network, of a tier whose key many clients share, of those
-- that may be slow, and of all clients. Others wait, without a connection to PostgREST. gateway/kong.yml has the numbers.
--
-- A place is an entry of the dictionary that a gateway's workers share. It expires, so that a worker that dies gives it back.

local refusal = require "kong.plugins.single-audit.refusal"

-- Longer than PostgREST may take (read_timeout in kong.yml).
local ANSWER_SECONDS = 70
-- Longer than clients read a response.
local READING_SECONDS = 3600
local RETRY_AFTER = "5"
-- How often all waiting requests together ask for a place.
local TRIES_PER_SECOND = 2000
local SHORTEST_PAUSE, LONGEST_PAUSE = 0.002, 1
-- A request that has waited this long keeps newcomers from taking its place, until it asks again. Before that, they may: no place
-- stays free, and nobody waits long.
local PATIENT_SECONDS, AWAITED_SECONDS = 0.2, 0.1
local EVERYBODY, SLOW = "all", "slow"
-- Keys and networks that have a request in progress leave this share of the places to others, so that a few cannot hold all of them.
local SPARE_SHARE = 0.4
-- Requests that may be slow leave this share of all places to look-ups, which take milliseconds.
local LOOKUP_SHARE = 1 / 6

local places = {}

--- The places that a request needs.
--- @param config    the plugin's settings
--- @param request   { kong_id, hash (of the key), tier, network, is_lookup (whether it asks for a single report, or calls a function) }
--- @param is_known  whether PostgreSQL has accepted the key. Others wait in a queue of their network, so that made-up keys do not
---   fill the queues of clients.
--- @return a visit, which the other functions take
function places.open(config, request, is_known)
  local limits = config.at_a_time
  -- No key or network gets PostgREST's last connection.
  local function leave_one(limit) return math.max(1, math.min(limit, limits.all - 1)) end
  local tier = config.limits[request.tier] or config.limits.default
  local of_client = "key:" .. request.hash .. (tier.by == "network" and request.network or "")
  local of_network = "network:" .. request.network
  local queue = is_known and of_client or "unknown:" .. request.network
  local key = { name = queue, limit = leave_one(limits.key), seconds = ANSWER_SECONDS }
  local network = { name = of_network, limit = leave_one(limits.network), seconds = ANSWER_SECONDS }
  local everybody = { name = EVERYBODY, limit = limits.all, seconds = ANSWER_SECONDS }
  local needed = {
    key, network,
    { name = "read:" .. of_client .. request.network, limit = limits.unread, seconds = READING_SECONDS, is_kept = true },
  }
  -- All clients share the key of such a tier.
  if tier.by == "network" then
    needed[#needed + 1] = { name = "tier:" .. request.tier, limit = leave_one(limits.shared_key), seconds = ANSWER_SECONDS }
  end
  local crowd = everybody
  if not request.is_lookup then
    crowd = { name = SLOW, limit = limits.all - math.floor(LOOKUP_SHARE * limits.all), seconds = ANSWER_SECONDS }
    needed[#needed + 1] = crowd
  end
  needed[#needed + 1] = everybody
  return {
    id = request.kong_id, longest_wait = config.longest_wait, most_waiting = config.most_waiting,
    queues = is_known and { queue, of_network } or { queue },
    key = key, network = network, crowd = crowd, needed = needed,
  }
end

local function give_back(place, visit, dict)
  if place.taken and dict:get(place.taken) == visit.id then
    dict:delete(place.taken)
  end
  place.taken = nil
end

local function name_place(place, number)
  return ("place:%s:%d"):format(place.name, number)
end

local function take(place, visit, dict)
  for number = 1, place.limit do
    local name = name_place(place, number)
    if dict:add(name, visit.id, place.seconds) then
      place.taken = name
      return true
    end
  end
end

local function count_taken(place, dict)
  local count = 0
  for number = 1, place.limit do
    count = count + (dict:get(name_place(place, number)) and 1 or 0)
  end
  return count
end

-- Returns the place of the key or network, if it has another request in progress and too few places are left for others.
local function find_crowded(visit, dict)
  local crowd = visit.crowd
  if count_taken(crowd, dict) > crowd.limit - math.floor(SPARE_SHARE * crowd.limit) then
    return count_taken(visit.key, dict) > 1 and visit.key or count_taken(visit.network, dict) > 1 and visit.network or nil
  end
end

local function find_missing(visit, dict)
  for _, place in ipairs(visit.needed) do
    if not take(place, visit, dict) then
      return place
    end
  end
  return find_crowded(visit, dict)
end

-- Takes all places or none. Returns the one that is missing.
local function take_all(visit, dict)
  local missing = find_missing(visit, dict)
  for _, taken in ipairs(missing and visit.needed or {}) do
    give_back(taken, visit, dict)
  end
  return missing
end

local function name_awaited(place)
  return "awaited:" .. place.name
end

local function find_awaited(visit, dict)
  for _, place in ipairs(visit.needed) do
    if dict:get(name_awaited(place)) then
      return place
    end
  end
end

-- How long requests wait for a place, as a moving average.
local function name_wait(place)
  return "wait:" .. place.name
end

local function learn_wait(place, dict, seconds, share)
  local typical = dict:get(name_wait(place)) or 0
  dict:set(name_wait(place), typical + share * (seconds - typical), ANSWER_SECONDS)
end

-- Requests that have waited longer than usual ask more often, and newer ones less often, so that requests pass roughly in the order of
-- their arrival. The total number of attempts stays about the same.
local function choose_pause(visit, place, dict, now, waiting)
  local waited, typical = now - visit.since, dict:get(name_wait(place)) or 0
  if waited > typical then
    learn_wait(place, dict, waited, 0.05)
  end
  local lateness = (math.max(typical, 0.005) / math.max(waited, 0.001)) ^ 3
  local pause = waiting / TRIES_PER_SECOND * (0.5 + math.random()) * math.max(0.1, math.min(lateness, 3))
  return math.max(SHORTEST_PAUSE, math.min(pause, LONGEST_PAUSE))
end

-- Waiting requests are counted by the period in which they came, so that those of a worker that died are soon forgotten.
local function name_count(queue, period)
  return ("waiting:%s:%d"):format(queue, period)
end

local function count_waiting(queue, visit, dict, now)
  local period = math.floor(now / visit.longest_wait)
  return (dict:get(name_count(queue, period)) or 0) + (dict:get(name_count(queue, period - 1)) or 0)
end

local function is_queue_full(visit, dict, now)
  for _, queue in ipairs(visit.queues) do
    if count_waiting(queue, visit, dict, now) >= visit.most_waiting then
      return true
    end
  end
  return false
end

local function join_queues(visit, dict, now)
  visit.since, visit.counts = now, {}
  local function join(queue)
    local name = name_count(queue, math.floor(now / visit.longest_wait))
    dict:incr(name, 1, 0, 3 * visit.longest_wait)
    visit.counts[#visit.counts + 1] = name
  end
  join(EVERYBODY)
  for _, queue in ipairs(visit.queues) do
    join(queue)
  end
end

local function leave_queues(visit, dict)
  for _, name in ipairs(visit.counts or {}) do
    dict:incr(name, -1)
  end
  visit.counts = nil
end

-- Whether other clients caused the refusal. They did if the key or network waited for a second place and stayed below its own limit.
local function is_api_busy(visit, missing, dict)
  return missing.name == EVERYBODY or missing.name == SLOW or visit.since and count_taken(missing, dict) < missing.limit
end

local function refuse(visit, missing, dict)
  if is_api_busy(visit, missing, dict) then
    return refusal.new(
      503, "api_busy", "The API is busy.", "Send the request again after the number of seconds in Retry-After.",
      { ["Retry-After"] = RETRY_AFTER }
    )
  end
  local hint = missing.is_kept and "Read each response to the end before you send the next request."
    or ("Send at most %d requests at a time: up to %d of a key and %d of a client IP run at once, and others wait for at most %d seconds.")
      :format(visit.most_waiting, visit.key.limit, visit.network.limit, visit.longest_wait)
  return refusal.new(
    429, "too_many_requests_at_a_time", "Too many requests of this key or client IP are in progress.", hint,
    { ["Retry-After"] = RETRY_AFTER }
  )
end

--- Asks for the places that a request needs.
--- @param dict  a dictionary like ngx.shared
--- @param now   Unix time in seconds
--- @return "pass"; or "wait" and the seconds after which to ask again; or "refuse" and the refusal
function places.ask(visit, dict, now)
  local missing = not visit.since and find_awaited(visit, dict)
  if not missing then
    missing = take_all(visit, dict)
    if not missing then
      if visit.since then
        learn_wait(visit.missing, dict, now - visit.since, 0.1)
      end
      leave_queues(visit, dict)
      return "pass"
    end
    if visit.since and now - visit.since >= PATIENT_SECONDS then
      dict:set(name_awaited(missing), true, AWAITED_SECONDS)
    end
  end
  visit.missing = missing
  if not visit.since and not is_queue_full(visit, dict, now) then
    join_queues(visit, dict, now)
  elseif not visit.since or now - visit.since >= visit.longest_wait then
    leave_queues(visit, dict)
    return "refuse", refuse(visit, missing, dict)
  end
  return "wait", choose_pause(visit, missing, dict, now, count_waiting(EVERYBODY, visit, dict, now))
end

--- Gives back the places of a request that PostgREST has answered. The client may still read the response.
function places.answer(visit, dict)
  for _, place in ipairs(visit.needed) do
    if not place.is_kept then
      give_back(place, visit, dict)
    end
  end
end

--- Gives back everything: the response was read, or the client has left.
function places.leave(visit, dict)
  leave_queues(visit, dict)
  for _, place in ipairs(visit.needed) do
    give_back(place, visit, dict)
  end
end

return places
