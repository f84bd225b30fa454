-- Exchanges requests' numbers with the other gateways through a Redis, in one script per request.
--
-- For each window, Redis has a hash with a field for each gateway: the highest number that it let pass. While Redis does
-- not answer, no request waits for it: the gateway uses the last counts that it knew, a timer waits for Redis, and
-- then tells it what was counted meanwhile. A script that timed out may still run, and changes nothing by running late.

local redis = require "resty.redis"

-- KEYS: the windows. ARGV: this gateway, then each window's number, limit and lifetime in seconds.
-- Returns what the other gateways and this one have counted in each window, and stores the numbers if no window is over.
local EXCHANGE = [[
  local gateway, counted, is_over = ARGV[1], {}, false
  for window, key in ipairs(KEYS) do
    local fields, own, others = redis.call('HGETALL', key), 0, 0
    for at = 1, #fields, 2 do
      if fields[at] == gateway then own = tonumber(fields[at + 1]) else others = others + tonumber(fields[at + 1]) end
    end
    counted[2 * window - 1], counted[2 * window] = others, own
    is_over = is_over or others + tonumber(ARGV[3 * window - 1]) > tonumber(ARGV[3 * window])
  end
  for window, key in ipairs(is_over and {} or KEYS) do
    if tonumber(ARGV[3 * window - 1]) > counted[2 * window] then redis.call('HSET', key, gateway, ARGV[3 * window - 1]) end
    redis.call('EXPIRE', key, ARGV[3 * window + 1])
  end
  return counted
]]
-- In milliseconds, for all steps together. A request waits at most PROMPT, the timer at most PATIENT.
local PROMPT = 75
local PATIENT = 1000
local SECONDS_BETWEEN_TRIES = 0.2
local NO_LIMIT = 1e15
-- Connections that a worker keeps open.
local POOL_SIZE = 128
local IDLE_MILLISECONDS = 60000

local redis_counts = {}

-- This worker's state.
local settings, counts
local is_away, is_waiting = true, false

-- The gateway's name in Redis is new at each start, because its own counts then start at 0.
local function find_name()
  local name = counts:get("gateway")
  if not name then
    counts:add("gateway", kong.node.get_id() .. ngx.now())
    name = counts:get("gateway")
  end
  return name
end

local function list_arguments(windows)
  local arguments = { EXCHANGE, #windows }
  for _, window in ipairs(windows) do
    arguments[#arguments + 1] = window.key
  end
  arguments[#arguments + 1] = find_name()
  for _, window in ipairs(windows) do
    arguments[#arguments + 1] = window.number
    arguments[#arguments + 1] = window.limit
    arguments[#arguments + 1] = window.lifetime
  end
  return unpack(arguments)
end

-- Connects and runs the script. `left` returns the milliseconds that are left for all steps together.
local function evaluate_on(connection, windows, left)
  connection:set_timeout(left())
  local ok, problem = connection:connect(settings.host, settings.port, { pool_size = POOL_SIZE })
  local password = settings.password
  if ok and type(password) == "string" and password ~= "" and connection:get_reused_times() == 0 then
    connection:set_timeout(left())
    ok, problem = connection:auth(password)
  end
  if not ok then
    return nil, problem
  end
  connection:set_timeout(left())
  local reply
  reply, problem = connection:eval(list_arguments(windows))
  if type(reply) == "table" and #reply ~= 2 * #windows then
    return nil, "an answer of another length"
  end
  return reply, problem
end

-- Runs the script. Returns its reply, or nil and the problem, within these milliseconds. Redis refuses writes if it is a replica
-- or full.
local function evaluate(windows, milliseconds)
  local connection, started = redis:new(), ngx.now()
  local reply, problem = evaluate_on(connection, windows, function()
    return math.max(1, milliseconds - (ngx.now() - started) * 1000)
  end)
  if not reply then
    connection:close()
    return nil, problem
  end
  connection:set_keepalive(IDLE_MILLISECONDS, POOL_SIZE)
  return reply
end

-- Remembers the numbers that Redis does not have yet.
local function note_unsent(windows)
  for _, window in ipairs(windows) do
    local flag = "unsent:" .. window.key
    if counts:add(flag, true, window.lifetime) and not counts:lpush("unsent", window.key) then
      counts:delete(flag)
    end
  end
end

-- Tells Redis one of these numbers. Returns whether Redis has it, or it is no longer needed.
local function send_noted(key)
  -- Deleted first, so that a request that is counted meanwhile is noted again.
  counts:delete("unsent:" .. key)
  local number, lifetime = counts:get(key), counts:ttl(key)
  if not number or not lifetime then
    return true
  end
  local window = { key = key, number = number, limit = NO_LIMIT, lifetime = math.ceil(lifetime) }
  local ok = evaluate({ window }, PROMPT)
  if not ok then
    note_unsent({ window })
  end
  return ok ~= nil
end

-- Returns whether Redis was told all these numbers.
local function send_all_noted()
  local key = counts:rpop("unsent")
  while key do
    if not send_noted(key) then
      return false
    end
    key = counts:rpop("unsent")
  end
  return true
end

-- Kong logs only `emerg` (kong.env). Only a timer calls this: in a request, nginx would add the request line.
local function log_once(is_now_away, message)
  local did_change = is_now_away and counts:add("is_away", true) or not is_now_away and counts:get("is_away")
  if not is_now_away then
    counts:delete("is_away")
  end
  if did_change then
    ngx.log(ngx.EMERG, message)
  end
end

-- Whether Redis stores a number as promptly as requests need it. The first one may take longer.
local function is_prompt()
  -- The current time is higher than the number that Redis has, so the script writes it.
  local probe = { { key = "probe", number = math.floor(ngx.now() * 1000), limit = NO_LIMIT, lifetime = 60 } }
  local ok, problem = evaluate(probe, PATIENT)
  if ok then
    ok, problem = evaluate(probe, PROMPT)
  end
  return ok ~= nil, problem
end

-- Waits for Redis, and tells it what this gateway counted meanwhile.
local function wait_for_redis()
  while not ngx.worker.exiting() do
    local ok, problem = is_prompt()
    if ok then
      is_away = false
      log_once(false, "Redis answers again: the gateways share their counts.")
      if send_all_noted() then
        return
      end
    else
      log_once(true, "Redis does not answer (" .. tostring(problem) .. "): this gateway counts requests alone.")
    end
    ngx.sleep(SECONDS_BETWEEN_TRIES)
  end
end

-- Runs in a timer. If it fails, the next request starts it again.
local function keep_waiting(is_stopping)
  if is_stopping then
    return
  end
  local ok, problem = pcall(wait_for_redis)
  is_waiting = false
  if not ok then
    ngx.log(ngx.EMERG, problem)
  end
end

local function leave_redis()
  is_away = true
  if not is_waiting then
    is_waiting = ngx.timer.at(0, keep_waiting) and true or false
  end
end

--- Connects to Redis. Called once in each worker.
--- @param redis   { host, port, password }
--- @param shared  the gateway's dictionary
function redis_counts.start(redis, shared)
  settings, counts = redis, shared
  leave_redis()
end

--- Tells Redis the windows' numbers, sets window.others to what the other gateways have counted, and raises window.number
--- to what Redis has of this gateway. If Redis does not answer, both keep their values.
function redis_counts.exchange(windows)
  local reply = not is_away and evaluate(windows, PROMPT)
  if not reply then
    note_unsent(windows)
    return leave_redis()
  end
  for at, window in ipairs(windows) do
    window.others = reply[2 * at - 1]
    counts:set("others:" .. window.key, window.others, window.lifetime)
    -- The dictionary forgets clients if it is full. Then this request is the next after those that Redis knows of.
    local forgotten = reply[2 * at] - (counts:get(window.key) or 0)
    if forgotten > 0 then
      window.number = counts:incr(window.key, forgotten + 1, 0, window.lifetime)
    end
  end
end

return redis_counts
