-- The gateway's own rules for requests, one file each. Kong runs this as a global plugin (gateway/kong.yml), and the
-- embedded gateway runs the same files.

local find_network = require "kong.plugins.single-audit.find_network"
local hash_key = require "kong.plugins.single-audit.hash_key"
local rewrite_error = require "kong.plugins.single-audit.rewrite_error"
local refusal = require "kong.plugins.single-audit.refusal"
local refuse_request = require "kong.plugins.single-audit.refuse_request"
local refuse_select = require "kong.plugins.single-audit.refuse_select"
local report_filter = require "kong.plugins.single-audit.report_filter"
local sha256_hex = require("kong.tools.sha256").sha256_hex

-- Every key contains at least 40 letters and digits in a row.
local KEY_LENGTH_RUN = ("%w"):rep(40)

-- Runs after cors (2000), so that browsers can read refusals, and before rate-limiting (910), which ignores them.
local handler = { PRIORITY = 1250, VERSION = "1.0.0" }

-- Sets a header, or removes it if there is no value, so that no client can set it. `headers` are the client's.
local function set_or_clear(headers, name, value)
  if value then
    kong.service.request.set_header(name, value)
  elseif headers[name] then
    kong.service.request.clear_header(name)
  end
end

-- Removes the key from x-api-key and from api_key= in the query string, and returns it. Keeps the rest of the query.
local function take_key(headers)
  local key, query = headers["x-api-key"], kong.request.get_raw_query()
  if query:find("api_key=", 1, true) then
    query = "&" .. query
    -- A percent-encoded name counts as a filter, and stays.
    key = key or query:match("&api_key=([^&]*)")
    query = query:gsub("&api_key=[^&]*", "")
    kong.service.request.set_raw_query((query:gsub("^&", "")))
  end
  set_or_clear(headers, "x-api-key", nil)
  return key
end

-- Logs show the X-Request-Id that a client chose, so it must not be a key.
local function is_loggable(id)
  return type(id) == "string" and #id <= 63 and id:find("^[%w_.:-]+$") and not id:find(KEY_LENGTH_RUN)
end

-- Runs before routing, because routes match the key's tier. Rate limits count by the key's hash or the client network.
function handler:rewrite(config)
  local headers, truncated = kong.request.get_headers()
  local context = { headers = headers, has_more_headers = truncated }
  local key, tier = take_key(headers), nil
  if key == nil or key == "" then
    context.is_missing = true
  elseif type(key) == "string" then
    context.hash, tier = hash_key(key, config.demonstration_key, sha256_hex)
  end
  set_or_clear(headers, "x-api-key-sha256", context.hash)
  set_or_clear(headers, "x-api-key-tier", tier)
  kong.service.request.set_header("x-client-network", find_network(ngx.var.remote_addr))
  context.request_id = headers["x-request-id"]
  if not is_loggable(context.request_id) then
    context.request_id = ngx.var.kong_request_id
    kong.service.request.set_header("x-request-id", context.request_id)
  end
  context.tier = tier
  local path = kong.request.get_path()
  if refuse_request.is_table_path(path) then
    ngx.var.logged_path = path
  end
  kong.ctx.plugin.context = context
end

-- nginx counts a client's requests, and its responses in progress, because the disk buffers what it has not read yet
-- (kong.env). The plugin refuses the request, because nginx would not give the client a reason.
local function refuse_flood()
  if ngx.var.limit_req_status == "REJECTED_DRY_RUN" then
    return refusal.new(
      429, "too_many_requests_from_address", "Too many requests came from this client IP.",
      "Send fewer requests per second.", { ["Retry-After"] = "1" }
    )
  end
  if ngx.var.limit_conn_status == "REJECTED_DRY_RUN" then
    return refusal.new(
      429, "too_many_requests_at_a_time", "Too many responses to this client IP and key are in progress.",
      "Read each response to the end before you send the next request.", { ["Retry-After"] = "1" }
    )
  end
end

function handler:access(config)
  local context, request = kong.ctx.plugin.context, kong.request
  context.method, context.path = request.get_method(), request.get_path()
  context.raw_path, context.query = request.get_raw_path(), request.get_raw_query()
  local refused = refuse_flood()
    or refuse_request.check(context, config)
    or refuse_select(context.query, config)
  if refused then
    context.is_refused = true
    return kong.response.exit(refused.status, refused.body, refused.headers)
  end

  if context.method == "POST" then
    local host, port = config.writer_url:match("^http://(.+):(%d+)$")
    kong.service.set_target(host, tonumber(port))
  end
  -- The gateway's token makes PostgREST trust these headers, which no client can set.
  kong.service.request.set_header("authorization", "Bearer " .. config.gateway_token)
  set_or_clear(context.headers, "x-filter-report-id", report_filter(context.query))
  if context.tier then
    kong.service.request.clear_header("x-api-key-tier")
  end
  -- PostgREST writes Referer, which may hold a key, to its error log.
  set_or_clear(context.headers, "referer", nil)
end

function handler:header_filter()
  local response = kong.response
  local source, status = response.get_source(), response.get_status()
  local context = kong.ctx.plugin.context or {}
  -- nginx may refuse a request before the rewrite phase.
  response.set_header("X-Request-Id", context.request_id or ngx.var.kong_request_id)
  if source == "service" then
    -- PostgREST repeats the URL in this header, which makes it longer than many clients accept.
    response.clear_header("Content-Location")
    -- PostgREST's 304 has a Content-Length, which breaks clients.
    if status == 304 then
      response.clear_header("Content-Length")
    elseif status == 503 and (response.get_header("Retry-After") or "0") == "0" then
      response.set_header("Retry-After", "30")
    end
  end
  local path = context.path or "/"
  if not context.is_refused and rewrite_error.applies_to(source, status, path) then
    response.clear_header("Content-Length")
    if source ~= "service" then
      response.set_header("Content-Type", refusal.content_type)
    end
    kong.ctx.plugin.rewritten = { source = source, status = status, path = path }
  end
end

function handler:body_filter()
  local rewritten = kong.ctx.plugin.rewritten
  if rewritten then
    local body = kong.response.get_raw_body()
    if body then
      kong.response.set_raw_body(rewrite_error.rewrite(rewritten.source, rewritten.status, body, rewritten.path))
    end
  end
end

return handler
