-- The part of Kong's plugin development kit that gateway/plugins uses, for Lua in WebAssembly. lua-plugin.ts calls one
-- function per phase with what the phase may read, and applies the changes that it returns.

local host = ...
for name, source in pairs(host.modules) do
  package.preload[name] = assert(load(source, "@" .. name))
end
-- Returns at once: the host sends the request, and drops the response.
package.preload["resty.http"] = function()
  return {
    new = function()
      return { set_timeout = function() end, request_uri = function(_, url, options) host.post(url, options.body) end }
    end,
  }
end
package.preload["kong.tools.sha256"] = function() return { sha256_hex = host.sha256_hex } end
local check_fields = require "embedded.check_config"
local create_dict = require "embedded.shared_dict"

local EXIT = {}
local handler, config
-- The state of each request, by its ID, from its first phase to its last.
local requests = {}
local request, changes

-- nginx escapes characters that would end the header line.
local function escape(value)
  value = math.type(value) == "float" and math.tointeger(value) or value
  return (tostring(value):gsub("[%z\1-\8\10-\31\127]", function(char) return ("%%%02X"):format(char:byte()) end))
end

--- Changes a header of the request or of the response. Without a value, removes it.
local function change_header(headers, name, value)
  headers[name:lower()] = value ~= nil and escape(value)
end

--- Returns headers like ngx.req.get_headers. A name that was sent twice has a table.
local function unpack_headers(headers, most)
  local unpacked, count = {}, 0
  for name, values in pairs(headers) do
    count = count + #values
    unpacked[name] = #values > 1 and values or values[1]
  end
  return unpacked, count > most and "truncated" or nil
end

ngx = {
  time = function() return math.floor(host.now()) end,
  now = host.now,
  -- The host resumes the phase.
  on_abort = function() end,
  sleep = function(seconds) coroutine.yield(seconds) end,
  req = { read_body = function() coroutine.yield() end },
  -- Runs only the first thread: the host refuses clients whose body comes too slowly.
  thread = { spawn = function(run) return run end, wait = function(run) return true, run() end, kill = function() end },
  timer = { at = function(_, callback, ...)
    callback(false, ...)
    return true
  end },
  shared = { single_audit_counts = create_dict(host.now) },
  unescape_uri = function(text)
    return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
  end,
}

kong = {
  ctx = {},
  request = {
    get_method = function() return request.method end,
    get_path = function() return request.path end,
    get_raw_path = function() return request.raw_path end,
    get_raw_query = function() return request.query end,
    --- As the client sent them: this function does not show changes that plugins make.
    get_headers = function(most) return unpack_headers(request.headers, most or 100) end,
  },
  service = {
    request = {
      set_header = function(name, value) change_header(changes.request_headers, name, value) end,
      clear_header = function(name) change_header(changes.request_headers, name) end,
      set_raw_query = function(query) request.query, changes.query = query, query end,
    },
    set_target = function(name, port) changes.target = name .. ":" .. port end,
    set_timeouts = function(_, _, read) changes.read_timeout = read end,
  },
  response = {
    get_source = function() return request.source end,
    get_status = function() return request.status end,
    set_status = function(status) request.status, changes.status = status, status end,
    set_header = function(name, value) change_header(changes.response_headers, name, value) end,
    clear_header = function(name) change_header(changes.response_headers, name) end,
    set_raw_body = function(body) ngx.arg[1] = body end,
  },
}

--- Returns a header of the response as the upstream sent it.
function kong.response.get_header(name)
  local values = request.upstream_headers[name:lower()]
  return values and values[1]
end

--- Holds back the body until it is complete. Returns nil until then.
function kong.response.get_raw_body()
  local chunks = request.chunks or {}
  chunks[#chunks + 1] = ngx.arg[1]
  request.chunks, ngx.arg[1] = chunks, nil
  if ngx.arg[2] then
    ngx.arg[1] = table.concat(chunks)
  end
  return ngx.arg[1]
end

function kong.response.exit(status, body, headers)
  for name, value in pairs(headers or {}) do
    kong.response.set_header(name, value)
  end
  changes.exit = { status = status, body = body or "" }
  error(EXIT, 0)
end

-- Makes a request the one that runs.
local function enter(id)
  request = requests[id]
  request.var.remote_addr, request.var.request_uri = request.address, request.request_uri
  ngx.var, kong.ctx.plugin = request.var, request.context
  ngx.arg = { request.chunk, request.is_last }
  changes = request.changes
end

-- Runs the phase until it ends or waits: for the body, or for a number of seconds.
local function run_on()
  local ok, problem = coroutine.resume(request.phase, handler, config)
  assert(ok or problem == EXIT, problem)
  local is_waiting = coroutine.status(request.phase) == "suspended"
  changes.pause, changes.reads_body = is_waiting and problem or nil, is_waiting and problem == nil or nil
  changes.logged_path = request.var.logged_path
  changes.filters_body = request.context.filters_body
  changes.chunk = ngx.arg[1]
  return changes
end

-- What lua-plugin.ts calls, by name.
local functions = {}

--- @return the plugin's priority
function functions.start(given)
  local plugin = "kong.plugins." .. given.name
  config = given.config
  check_fields("", require(plugin .. ".schema").fields[1].config.fields, config)
  handler = require(plugin .. ".handler")
  if handler.configure then
    handler:configure({ config })
  end
  return handler.PRIORITY
end

--- @param given  the request's ID, and what the phase adds to the state of the request
--- @return the changes to the request or the response
function functions.run_phase(phase, given)
  -- nginx refuses some requests before their first phase.
  local state = requests[given.id] or { context = {}, var = { kong_request_id = given.id } }
  requests[given.id] = state
  for name, value in pairs(given) do
    state[name] = value
  end
  state.changes = { request_headers = {}, response_headers = {} }
  state.phase = coroutine.create(handler[phase] or function() end)
  enter(given.id)
  return run_on()
end

--- Continues a phase that waited.
function functions.resume(id)
  enter(id)
  return run_on()
end

function functions.finish(id)
  if requests[id] then
    functions.run_phase("log", { id = id })
    requests[id] = nil
  end
end

return function(name, ...)
  return functions[name](...)
end
