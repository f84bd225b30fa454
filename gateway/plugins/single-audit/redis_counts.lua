-- Exchanges requests' numbers with the other gateways through a Redis, in one script per request.
--
-- For each window, Redis has a hash with a field for each gateway: the highest number that it let pass. While Redis does
-- not answer, no request waits for it: the gateway goes on from the last counts that it knew, a timer waits for Redis, and
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
-- In milliseconds, for everything. A request waits at most for the first, the timer for the second.
local PROMPT = 90
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

-- Sends the password in the same packet as the script, so that a new connection takes no longer.
local function evaluate_on(connection, windows)
  local password = settings.password
  if type(password) ~= "string" or password == "" or connection:get_reused_times() > 0 then
    return connection:eval(list_arguments(windows))
  end
  connection:init_pipeline(2)
  connection:auth(password)
  connection:eval(list_arguments(windows))
  local answers, problem = connection:commit_pipeline()
  for _, answer in ipairs(answers or {}) do
    if type(answer) == "table" and answer[1] == false then
      return nil, answer[2]
    end
  end
  return answers and answers[2], problem
end

-- Runs the script. Returns its reply, or nil and the problem, at the latest after these milliseconds.
local function evaluate(windows, milliseconds)
  local connection, started = redis:new(), ngx.now()
  connection:set_timeout(milliseconds)
  local ok, problem = connection:connect(settings.host, settings.port, { pool_size = POOL_SIZE })
  local left = milliseconds - (ngx.now() - started) * 1000
  if not ok or left < 1 then
    return nil, problem or "timeout"
  end
  connection:set_timeout(left)
  local reply
  reply, problem = evaluate_on(connection, windows)
  if not reply then
    connection:close()
    return nil, problem
  end
  connection:set_keepalive(IDLE_MILLISECONDS, POOL_SIZE)
  return reply
end

-- Remembers the numbers that Redis was not told.
local function note_unsent(windows)
  for _, window in ipairs(windows) do
    if counts:add("unsent:" .. window.key, true, window.lifetime) then
      counts:lpush("unsent", window.key)
    end
  end
end

local function send_noted()
  for key in counts.rpop, counts, "unsent" do
    local number, lifetime = counts:get(key), counts:ttl(key)
    counts:delete("unsent:" .. key)
    if number and lifetime then
      local window = { key = key, number = number, limit = NO_LIMIT, lifetime = math.ceil(lifetime) }
      if not evaluate({ window }, PROMPT) then
        return note_unsent({ window })
      end
    end
  end
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

-- Waits until Redis answers a script as promptly as requests need it.
local function wait_for_redis()
  local probe = { { key = "probe", number = 1, limit = NO_LIMIT, lifetime = 60 } }
  while not ngx.worker.exiting() do
    local ok, problem = evaluate(probe, PATIENT)
    if ok then
      ok, problem = evaluate(probe, PROMPT)
    end
    if ok then
      is_away = false
      log_once(false, "Redis answers again: the gateways share their counts.")
      return send_noted()
    end
    log_once(true, "Redis does not answer (" .. tostring(problem) .. "): this gateway counts requests alone.")
    ngx.sleep(SECONDS_BETWEEN_TRIES)
  end
end

local function leave_redis()
  is_away = true
  if not is_waiting then
    is_waiting = ngx.timer.at(0, function(is_stopping)
      local ok, problem = is_stopping or pcall(wait_for_redis)
      is_waiting = false
      if not ok then
        ngx.log(ngx.EMERG, problem)
      end
    end) and true or false
  end
end

--- Connects to Redis. Called once in each worker.
--- @param redis   { host, port, password }
--- @param shared  the gateway's dictionary
function redis_counts.start(redis, shared)
  settings, counts = redis, shared
  leave_redis()
end

--- Tells Redis the windows' numbers, and sets window.others to what the other gateways have counted. If Redis does not
--- answer, window.others keeps its value.
function redis_counts.exchange(windows)
  local reply = not is_away and evaluate(windows, PROMPT)
  if not reply then
    note_unsent(windows)
    return leave_redis()
  end
  for at, window in ipairs(windows) do
    window.others = reply[2 * at - 1]
    counts:set("others:" .. window.key, window.others, window.lifetime)
    -- The dictionary forgets clients if it is full.
    local forgotten = reply[2 * at] - (counts:get(window.key) or 0)
    if forgotten > 0 then
      counts:incr(window.key, forgotten, 0, window.lifetime)
    end
  end
end

return redis_counts
