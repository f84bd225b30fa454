-- Exchanges requests' numbers with the other gateways through a Redis, in one script per request.
--
-- For each window, Redis has a hash with a field for each gateway: the highest number that it let pass. While Redis does
-- not answer, no request waits for it: the gateway uses the last counts that it knew, a timer waits for Redis, and
-- then tells it what was counted meanwhile. A script that timed out may still run, and changes nothing by running late.
--
-- Counts only rise within a window. So if Redis knows less than this gateway, because it was emptied or is full, the gateway's own
-- numbers hold.

local redis = require "resty.redis"

-- KEYS: the windows. ARGV: this gateway, then each window's number, limit, lifetime in seconds, and what the gateway knows that the
-- others have counted.
-- Returns what the other gateways and this one have counted in each window, and stores the numbers if no window is over.
local EXCHANGE = [[
  local gateway, counted, is_over = ARGV[1], {}, false
  for window, key in ipairs(KEYS) do
    local fields, own, others = redis.call('HGETALL', key), 0, 0
    for at = 1, #fields, 2 do
      if fields[at] == gateway then own = tonumber(fields[at + 1]) else others = others + tonumber(fields[at + 1]) end
    end
    others = math.max(others, tonumber(ARGV[4 * window + 1]))
    counted[2 * window - 1], counted[2 * window] = others, own
    is_over = is_over or others + tonumber(ARGV[4 * window - 2]) > tonumber(ARGV[4 * window - 1])
  end
  for window, key in ipairs(is_over and {} or KEYS) do
    if tonumber(ARGV[4 * window - 2]) > counted[2 * window] then redis.call('HSET', key, gateway, ARGV[4 * window - 2]) end
    redis.call('EXPIRE', key, ARGV[4 * window])
  end
  return counted
]]
-- In milliseconds, for all steps together. A request waits at most PROMPT, the timer at most PATIENT.
local PROMPT = 75
local PATIENT = 1000
local SECONDS_BETWEEN_TRIES = 0.2
local NO_LIMIT = 1e15
local SECONDS_BETWEEN_READINGS = 15
-- Connections that a worker keeps open.
local POOL_SIZE = 128
local IDLE_MILLISECONDS = 60000

local redis_counts = {}

-- This worker's state.
local settings, counts
local is_away, is_waiting, is_telling = true, false, false

-- The gateway's name in Redis is new at each start, because its own counts then start at 0. Redis stores a number in fewer bytes.
local function find_name()
  local name = counts:get("gateway")
  if not name then
    counts:add("gateway", ngx.crc32_long(kong.node.get_id() .. ngx.now()))
    name = counts:get("gateway")
  end
  return name
end

local function list_keys(windows)
  local keys = {}
  for _, window in ipairs(windows) do
    keys[#keys + 1] = window.key
  end
  return keys
end

local function list_arguments(windows)
  local arguments = { EXCHANGE, #windows, unpack(list_keys(windows)) }
  arguments[#arguments + 1] = find_name()
  for _, window in ipairs(windows) do
    arguments[#arguments + 1] = window.number
    arguments[#arguments + 1] = window.limit
    arguments[#arguments + 1] = window.lifetime
    arguments[#arguments + 1] = window.others
  end
  return unpack(arguments)
end

-- Connects and runs a command. `left` returns the milliseconds that are left for all steps together.
local function run_on(connection, left, command, ...)
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
  return connection[command](connection, ...)
end

-- Runs a command. Returns its reply, or nil and the problem, within these milliseconds.
local function run(milliseconds, ...)
  local connection, started = redis:new(), ngx.now()
  local reply, problem = run_on(connection, function()
    return math.max(1, milliseconds - (ngx.now() - started) * 1000)
  end, ...)
  if not reply then
    connection:close()
    return nil, problem
  end
  connection:set_keepalive(IDLE_MILLISECONDS, POOL_SIZE)
  return reply
end

-- Runs the script. Redis refuses writes if it is a replica or full.
local function evaluate(windows, milliseconds)
  local reply, problem = run(milliseconds, "eval", list_arguments(windows))
  if type(reply) == "table" and #reply ~= 2 * #windows then
    return nil, "an answer of another length"
  end
  return reply, problem
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
  local window = { key = key, number = number, others = 0, limit = NO_LIMIT, lifetime = math.ceil(lifetime) }
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
  local probe = { { key = "probe", number = math.floor(ngx.now() * 1000), others = 0, limit = NO_LIMIT, lifetime = 60 } }
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

-- Runs in a timer. A worker that stops tells what is left, too.
local function tell_noted()
  is_telling = false
  if not send_all_noted() then
    leave_redis()
  end
end

-- Measures how full Redis is, for Prometheus.
local function measure_memory(_, gauge)
  local memory = run(PATIENT, "info", "memory")
  local used, most = (memory or ""):match("used_memory:(%d+).*maxmemory:(%d+)")
  if used and tonumber(most) > 0 then
    gauge:set(tonumber(used) / tonumber(most))
  end
end

--- Connects to Redis. Called once in each worker.
--- @param redis   { host, port, password }
--- @param shared  the gateway's dictionary
function redis_counts.start(redis, shared)
  settings, counts = redis, shared
  leave_redis()
  if ngx.worker.id() == 0 then
    local prometheus = require("kong.plugins.prometheus.exporter").get_prometheus()
    local gauge = prometheus:gauge("counters_memory_ratio", "Memory of the Redis with the gateways' counts, as a share of its maxmemory.")
    ngx.timer.every(SECONDS_BETWEEN_READINGS, measure_memory, gauge)
  end
end

--- Whether a gateway has counted requests in one of the windows.
function redis_counts.has(windows)
  local found = not is_away and run(PROMPT, "exists", unpack(list_keys(windows)))
  if not found then
    leave_redis()
  end
  return found and found > 0
end

--- Tells Redis the windows' numbers, raises window.others to what the other gateways have counted, and window.number to what Redis has
--- of this gateway. If Redis does not answer, both keep their values.
function redis_counts.exchange(windows)
  local reply = not is_away and evaluate(windows, PROMPT)
  if not reply then
    note_unsent(windows)
    return leave_redis()
  end
  for at, window in ipairs(windows) do
    local name = "o:" .. window.key
    window.others = reply[2 * at - 1]
    if window.others > (counts:get(name) or 0) then
      counts:set(name, window.others, window.lifetime)
    end
    -- The dictionary forgets clients if it is full. Then this request is the next after those that Redis knows of.
    local forgotten = reply[2 * at] - (counts:get(window.key) or 0)
    if forgotten > 0 then
      window.number = counts:incr(window.key, forgotten + 1, 0, window.lifetime)
    end
  end
end

--- Tells Redis the windows' numbers soon, without waiting for it.
function redis_counts.tell(windows)
  note_unsent(windows)
  if not is_away and not is_telling then
    is_telling = ngx.timer.at(0, tell_noted) and true or false
  end
end

return redis_counts
