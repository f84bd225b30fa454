-- The gateway's own rules for requests, one file each. Kong runs this as a global plugin (gateway/kong.yml), and the
-- embedded gateway runs the same files.

local complete_order = require "kong.plugins.single-audit.complete_order"
local csv_body = require "kong.plugins.single-audit.csv_body"
local find_network = require "kong.plugins.single-audit.find_network"
local formats = require "kong.plugins.single-audit.formats"
local hash_key = require "kong.plugins.single-audit.hash_key"
local key_use = require "kong.plugins.single-audit.key_use"
local page_cache = require "kong.plugins.single-audit.page_cache"
local places = require "kong.plugins.single-audit.places"
local parse_query = require "kong.plugins.single-audit.parse_query"
local rate_limit = require "kong.plugins.single-audit.rate_limit"
local refusal = require "kong.plugins.single-audit.refusal"
local refuse_flood = require "kong.plugins.single-audit.refuse_flood"
local refuse_query = require "kong.plugins.single-audit.refuse_query"
local refuse_request = require "kong.plugins.single-audit.refuse_request"
local refuse_select = require "kong.plugins.single-audit.refuse_select"
local refuse_size = require "kong.plugins.single-audit.refuse_size"
local report_filter = require "kong.plugins.single-audit.report_filter"
local rewrite_error = require "kong.plugins.single-audit.rewrite_error"
local served_tables = require "kong.plugins.single-audit.served_tables"
local take_parameter = require "kong.plugins.single-audit.take_parameter"
local sha256_hex = require("kong.tools.sha256").sha256_hex

-- How long a call may take. It writes, so if the replica that its commit waits for stops, it would not end by itself.
local CALL_MILLISECONDS = 4000
local CONNECT_MILLISECONDS = 300

-- How long a client may take to send a body: less than nginx's client_body_timeout (kong.env), after which nginx closes the
-- connection without a response.
local BODY_SECONDS = 4
local REQUEST_TIMEOUT = 408
-- nginx's status for the log.
local CLIENT_HAS_LEFT = 499

-- Every key contains at least 40 letters and digits in a row.
local KEY_LENGTH_RUN = ("%w"):rep(40)

-- Runs after cors (2000), so that browsers can read refusals.
local handler = { PRIORITY = 1250, VERSION = "1.0.0" }

-- Set in each worker if the gateways share their counts in a Redis.
local redis_counts

-- Sets a header for PostgREST, or removes it if there is no value, so that no client can set it.
local function set_or_clear(request, name, value)
  if value then
    kong.service.request.set_header(name, value)
  elseif request.headers[name] then
    kong.service.request.clear_header(name)
  end
end

-- Removes api_key= and format= from the query string, and keeps the rest of it.
local function take_parameters(request)
  local query = request.query
  query, request.query_key = take_parameter(query, "api_key")
  query, request.format = take_parameter(query, "format")
  if query ~= request.query then
    request.query = query
    kong.service.request.set_raw_query(query)
  end
end

-- Removes the key from x-api-key, and returns it, or the key in the query string.
local function take_key(request)
  local key = request.headers["x-api-key"]
  set_or_clear(request, "x-api-key", nil)
  return key ~= "" and key or request.query_key
end

local function identify(request, config)
  take_parameters(request)
  local key = take_key(request)
  request.has_no_key = key == nil or key == ""
  if type(key) == "string" and key ~= "" then
    request.hash, request.tier = hash_key(key, config.demonstration_key, sha256_hex)
  end
  request.network = find_network(ngx.var.remote_addr)
  set_or_clear(request, "x-api-key-sha256", request.hash)
  kong.service.request.set_header("x-client-network", request.network)
end

-- Logs show the X-Request-Id that a client chose, so it must not be a key.
local function is_loggable(id)
  return type(id) == "string" and #id <= 63 and id:find("^[%w_.:-]+$") and not id:find(KEY_LENGTH_RUN)
end

local function choose_request_id(request)
  local id = request.headers["x-request-id"]
  if is_loggable(id) then
    return id
  end
  kong.service.request.set_header("x-request-id", ngx.var.kong_request_id)
  return ngx.var.kong_request_id
end

local function exit_if(refused)
  if refused then
    kong.ctx.plugin.is_refused = true
    return kong.response.exit(refused.status, refused.body, refused.headers)
  end
end

local function is_set(text)
  return type(text) == "string" and text ~= ""
end

-- Kong calls this in each worker when it starts.
function handler:configure(configs)
  local redis = configs and configs[1] and configs[1].redis
  if redis and is_set(redis.host) and not redis_counts then
    redis_counts = require "kong.plugins.single-audit.redis_counts"
    redis_counts.start(redis, ngx.shared.single_audit_counts)
  end
end

function handler:rewrite(config)
  local headers, truncated = kong.request.get_headers()
  local request = {
    uri = ngx.var.request_uri, raw_path = kong.request.get_raw_path(), query = kong.request.get_raw_query(),
    headers = headers, has_more_headers = truncated ~= nil,
  }
  kong.ctx.plugin.request = request
  request.id, request.kong_id = choose_request_id(request), ngx.var.kong_request_id
  exit_if(refuse_size(request, config))
  identify(request, config)
  request.method, request.path = kong.request.get_method(), kong.request.get_path()
  if refuse_request.is_table_path(request.path) then
    ngx.var.logged_path = request.path
  end
end

-- Checks the query, which takes more work than everything before it.
local function refuse_parameters(request, config)
  local parameters, has_more = parse_query(request.query, config.most_parameters)
  request.parameters = parameters
  return refuse_query(request.query, parameters, has_more, config) or refuse_select(parameters, config)
end

-- Completes the orders in the query. The completed query has the same bound as the client's.
local function complete_query(request, config)
  local query, row_order = complete_order(request, request.headers["accept-profile"], config.most_items)
  request.row_order = row_order
  if query ~= request.query then
    request.query = query
    kong.service.request.set_raw_query(query)
    return refuse_size(request, config)
  end
end

local function name_known(hash)
  return "known:" .. hash:sub(1, 32)
end

-- Whether PostgreSQL has accepted the key.
local function is_known(request, counts)
  return request.tier == "demo" or counts:get(name_known(request.hash)) ~= nil
end

-- Waits until fewer requests are in progress. Returns a refusal if that takes too long.
local function wait_for_place(request, config, counts)
  request.report_filter = report_filter(request.parameters)
  request.is_lookup = request.method == "POST" or request.report_filter ~= nil
  local visit = places.open(config, request, is_known(request, counts))
  kong.ctx.plugin.visit = visit
  local verdict, answer = places.ask(visit, counts, ngx.now())
  while verdict == "wait" and not request.has_left do
    ngx.sleep(answer)
    verdict, answer = places.ask(visit, counts, ngx.now())
  end
  if request.has_left then
    return { status = CLIENT_HAS_LEFT }
  end
  return answer
end

-- Reads the body, so that a client that sends slowly takes no place.
local function read_body()
  local reader = ngx.thread.spawn(function() ngx.req.read_body() end)
  local timer = ngx.thread.spawn(function()
    ngx.sleep(BODY_SECONDS)
    return "timeout"
  end)
  local _, outcome = ngx.thread.wait(reader, timer)
  ngx.thread.kill(reader)
  ngx.thread.kill(timer)
  if outcome == "timeout" then
    -- With any other exit status, nginx would close the connection. header_filter and body_filter write the response.
    ngx.status = REQUEST_TIMEOUT
    ngx.print()
    return ngx.exit(ngx.HTTP_OK)
  end
end

-- nginx tells a function that the client has left while this plugin waits. Without one, nginx would end the coroutine in which
-- Kong runs the plugin, which breaks the worker's next request.
local function notice_leaving(request)
  ngx.on_abort(function() request.has_left = true end)
end

-- Counts a request, unless its key has yet to be accepted. Returns whether a window is full.
local function count(request, windows, counts)
  local shared = redis_counts or {}
  rate_limit.is_full(windows, counts)
  if is_known(request, counts) or rate_limit.has_begun(windows, shared.has) then
    kong.ctx.plugin.is_counted = true
    return rate_limit.count(windows, counts, shared.exchange)
  end
end

-- Refuses a request, or counts it. Requests that are refused do not count toward the rate limit.
local function refuse_or_count(request, config)
  local refused = refuse_flood() or refuse_request.check(request)
  if refused then
    return refused
  end
  local counts = ngx.shared.single_audit_counts
  local windows = rate_limit.open_windows(config.limits, request, ngx.time())
  if rate_limit.is_full(windows, counts) then
    return rate_limit.refuse(windows)
  end
  request.accept, refused = formats.choose(request.headers.accept, request.format)
  refused = refused or refuse_parameters(request, config) or complete_query(request, config)
  if refused then
    return refused
  end
  notice_leaving(request)
  refused = request.method == "POST" and read_body() or wait_for_place(request, config, counts)
  if refused then
    return refused
  end
  -- A new window may have begun meanwhile.
  windows = rate_limit.open_windows(config.limits, request, ngx.time())
  if count(request, windows, counts) then
    return rate_limit.refuse(windows)
  end
  kong.ctx.plugin.windows = windows
end

-- The embedded gateway has no cache: it ignores these variables.
local function use_cache(request)
  request.is_page = page_cache.is_page(request)
  set_or_clear(request, "x-cacheable", request.is_page and "yes" or nil)
  if request.is_page and page_cache.is_permitted(request, ngx.shared.single_audit_counts) then
    ngx.var.cache_zone, ngx.var.cache_key = "pages", page_cache.key(request, served_tables.rules)
  end
end

-- The gateway's token makes PostgREST trust these headers, which no client can set.
local function set_upstream(request, config)
  if request.method == "POST" then
    local host, port = config.writer_url:match("^http://(.+):(%d+)$")
    kong.service.set_target(host, tonumber(port))
    kong.service.set_timeouts(CONNECT_MILLISECONDS, CALL_MILLISECONDS, CALL_MILLISECONDS)
  end
  kong.service.request.set_header("authorization", "Bearer " .. config.gateway_token)
  set_or_clear(request, "accept", request.accept)
  set_or_clear(request, "x-filter-report-id", request.report_filter)
  set_or_clear(request, "x-row-order", request.row_order)
  set_or_clear(request, "x-order-rules", served_tables.rules)
  -- nginx does not send If-Match to PostgREST if it uses its cache.
  set_or_clear(request, "x-if-match", request.headers["if-match"])
  set_or_clear(request, "if-match", nil)
  use_cache(request)
  -- PostgREST writes Referer, which may hold a key, to its error log.
  set_or_clear(request, "referer", nil)
end

function handler:access(config)
  local request = kong.ctx.plugin.request
  exit_if(refuse_or_count(request, config))
  set_upstream(request, config)
end

local function is_csv(status)
  local content_type = kong.response.get_header("Content-Type")
  return (status == 200 or status == 206) and type(content_type) == "string" and content_type:find("^text/csv") ~= nil
end

-- Repairs the headers of PostgREST's response.
local function filter_service_headers(status)
  local response = kong.response
  -- PostgREST repeats the URL in this header, which makes it longer than many clients accept.
  response.clear_header("Content-Location")
  -- PostgREST's 304 has a Content-Length, which breaks clients.
  if status == 304 then
    response.clear_header("Content-Length")
  elseif is_csv(status) then
    response.clear_header("Content-Length")
    kong.ctx.plugin.csv = { parameters = kong.ctx.plugin.request.parameters }
  end
end

-- A cache may keep the rows that a key gets, but must ask each time whether they are current. PostgREST's description of the API and
-- its 304 come without headers that SQL sets, so these are set here for all reads.
local function set_caching(status, method)
  if status >= 400 then
    kong.response.set_header("Cache-Control", "no-store")
  elseif method == "GET" or method == "HEAD" then
    kong.response.set_header("Cache-Control", "private, no-cache")
    kong.response.set_header("Vary", "Accept, Accept-Profile, Prefer, Range, X-Api-Key")
  end
end

local function set_retry_after()
  local response = kong.response
  local seconds = rewrite_error.retry_after(response.get_header("Proxy-Status"), response.get_header("Retry-After"))
  if seconds then
    response.set_header("Retry-After", seconds)
  else
    response.clear_header("Retry-After")
  end
end

local function rewrite_error_head(source, status, request)
  local response = kong.response
  local sent = response.get_header("Proxy-Status")
  local new_status, proxy_status = rewrite_error.rewrite_head(source, status, sent, request.path, ngx.var.upstream_connect_time)
  if new_status ~= status then
    response.set_status(new_status)
  end
  if proxy_status then
    response.set_header("Proxy-Status", proxy_status)
  end
  response.clear_header("Content-Length")
  if source ~= "service" then
    response.set_header("Content-Type", refusal.content_type)
  end
  kong.ctx.plugin.error = { source = source, status = new_status, request = request }
  return new_status
end

-- Whether PostgreSQL does not know the key. Other 401s are for keys that it knows, whose requests count.
local function is_key_unknown(source, status)
  local proxy_status = kong.response.get_header("Proxy-Status")
  return source == "service" and status == 401 and type(proxy_status) == "string"
    and proxy_status:find("error=API_KEY_INVALID$") ~= nil
end

-- How long a key is known.
local KNOWN_SECONDS = 3600

local function note_page(request)
  local is_permitted = ngx.var.upstream_http_x_accel_expires ~= nil
  page_cache.note(request, is_permitted, ngx.shared.single_audit_counts)
  if is_permitted then
    -- A kept response has the Date of the request that made it.
    kong.response.set_header("Date", ngx.http_time(ngx.time()))
  end
end

-- Whether PostgreSQL ran the query. An error of the database says nothing about the key, unless the query itself was too costly:
-- 500, or 503 with 53400.
local function has_run(status)
  local proxy_status = kong.response.get_header("Proxy-Status")
  return status <= 500 or type(proxy_status) == "string" and proxy_status:find("error=53400$") ~= nil
end

-- Counts the first request of a key that PostgreSQL accepts, and notes that the key is used. Forgets a key that does not exist.
local function note_key(config, plugin, source, status)
  local counts, request, windows = ngx.shared.single_audit_counts, plugin.request, plugin.windows
  if is_key_unknown(source, status) then
    counts:delete(name_known(request.hash))
    return
  end
  if source == "service" and not plugin.is_counted and has_run(status) then
    rate_limit.count_late(windows, counts, redis_counts and redis_counts.tell)
  end
  if source == "service" and status < 500 then
    counts:set(name_known(request.hash), true, KNOWN_SECONDS)
    if is_set(config.usage_url) then
      key_use.note(config.usage_url, request.hash, windows[1].number)
    end
  end
end

function handler:header_filter(config)
  local plugin, response = kong.ctx.plugin, kong.response
  local source, status = response.get_source(), response.get_status()
  -- nginx may refuse a request before the rewrite phase.
  local request = plugin.request or { headers = {} }
  request.path = request.path or "/"
  if plugin.visit then
    places.answer(plugin.visit, ngx.shared.single_audit_counts)
  end
  response.set_header("X-Request-Id", request.id or ngx.var.kong_request_id)
  if status >= 400 and not plugin.is_refused then
    status = rewrite_error_head(source, status, request)
  end
  set_caching(status, request.method)
  if status == 503 then
    set_retry_after()
  end
  if source == "service" then
    filter_service_headers(status)
  end
  if request.is_page and source == "service" then
    note_page(request)
  end
  if plugin.windows then
    note_key(config, plugin, source, status)
    for name, value in pairs(rate_limit.headers(plugin.windows)) do
      response.set_header(name, value)
    end
  end
  plugin.filters_body = plugin.error ~= nil or plugin.csv ~= nil
end

local function filter_error_body(rewritten)
  local body = kong.response.get_raw_body()
  if body then
    kong.response.set_raw_body(rewrite_error.rewrite_body(rewritten.source, rewritten.status, body, rewritten.request))
  end
end

function handler:body_filter()
  local plugin = kong.ctx.plugin
  if plugin.error then
    filter_error_body(plugin.error)
  elseif plugin.csv then
    ngx.arg[1] = csv_body(plugin.csv, ngx.arg[1], ngx.arg[2])
  end
end

-- Runs last, also if the client has left.
function handler:log()
  local plugin, counts = kong.ctx.plugin, ngx.shared.single_audit_counts
  if plugin.visit then
    places.leave(plugin.visit, counts)
  end
  if ngx.var.upstream_cache_status and ngx.var.request_completion ~= "OK" then
    page_cache.note_broken(plugin.request, counts)
  end
end

return handler
