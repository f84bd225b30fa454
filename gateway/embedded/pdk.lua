-- The part of Kong's plugin development kit that gateway/plugins uses, for Lua in WebAssembly. lua-plugin.ts calls one
-- function per phase. A request or response goes in as one string, and a list of changes comes out as one string,
-- because each call between the two languages costs more than the work that it does.

local sha256_hex = ...
local MOST_HEADERS = 100
local EXIT = {}

local handler, config
-- The state of each request, by its ID, from its first phase to its last.
local requests = {}
local request, changes

local function change(kind, text)
  changes[#changes + 1] = kind .. text
end

local function unescape(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- nginx escapes characters that would end the header line.
local function set_header(name, value)
  value = tostring(value):gsub("[%z\1-\8\10-\31\127]", function(char) return ("%%%02X"):format(char:byte()) end)
  change("S", name .. "\n" .. value)
end

local function clear_header(name)
  change("C", name)
end

--- Reads names and values, one per line, like ngx.req.get_headers. A name that was sent twice gets a table.
local function read_headers(next_line, most)
  local headers, count = {}, 0
  for name in next_line do
    local value, known = next_line(), headers[name]
    count = count + 1
    if count > most then
      return headers, "truncated"
    elseif type(known) == "table" then
      known[#known + 1] = value
    else
      headers[name] = known and { known, value } or value
    end
  end
  return headers
end

ngx = { unescape_uri = unescape }

kong = {
  ctx = {},
  request = {
    get_method = function() return request.method end,
    get_path = function() return request.path end,
    get_raw_path = function() return request.raw_path end,
    get_raw_query = function() return request.query end,
  },
  service = {
    request = { set_header = set_header, clear_header = clear_header },
    set_target = function(host, port) change("T", host .. ":" .. port) end,
  },
  response = {
    get_source = function() return request.source end,
    get_status = function() return request.status end,
    clear_header = clear_header,
    set_header = set_header,
    set_raw_body = function(body) request.body = body end,
  },
}

--- Only for the rewrite phase, because this file does not learn of changes that other plugins make later.
function kong.request.get_headers()
  assert(request.headers, "kong.request.get_headers is implemented only for the rewrite phase")
  return request.headers, request.truncated
end

function kong.service.request.set_raw_query(query)
  request.query = query
  change("Q", query)
end

--- Returns a header of the response as the upstream sent it.
function kong.response.get_header(name)
  local value = request.answer[name:lower()]
  return type(value) == "table" and value[1] or value
end

function kong.response.get_raw_body()
  request.is_held = true
  return request.body
end

function kong.response.exit(status, body, headers)
  change("X", status)
  for name, value in pairs(headers or {}) do
    set_header(name, value)
  end
  change("B", body or "")
  error(EXIT, 0)
end

local function run(id, of_request, ...)
  requests[id], request = of_request, of_request
  ngx.var, kong.ctx.plugin = of_request.var, of_request.context
  for _, phase in ipairs({ ... }) do
    local ok, problem = true, nil
    if handler[phase] then
      ok, problem = pcall(handler[phase], handler, config)
    end
    assert(ok or problem == EXIT, problem)
  end
end

local function read_config(fields, given)
  local values = {}
  for _, field in ipairs(fields) do
    local name, rule = next(field)
    local value = rule.type == "integer" and math.tointeger(tonumber(given[name])) or given[name]
    assert(math.type(value) == rule.type or type(value) == rule.type, name .. ": expected type " .. rule.type)
    assert(not rule.gt or value > rule.gt, name .. ": expected more than " .. tostring(rule.gt))
    values[name], given[name] = value, nil
  end
  assert(next(given) == nil, tostring(next(given)) .. ": the schema has no such field")
  return values
end

-- The functions that TypeScript calls, by name.
local phases = {}

function phases.preload(name, source)
  package.preload[name] = assert(load(source, "@" .. name))
end

--- @param given  the configuration: names and values, one per line
--- @return the plugin's priority
function phases.start(name, given)
  package.preload["kong.tools.sha256"] = function() return { sha256_hex = sha256_hex } end
  local fields = require("kong.plugins." .. name .. ".schema").fields[1].config.fields
  config = read_config(fields, (read_headers(given:gmatch("([^\n]*)\n"), math.huge)))
  handler = require("kong.plugins." .. name .. ".handler")
  return tostring(handler.PRIORITY)
end

function phases.rewrite(id, text)
  local line = text:gmatch("([^\n]*)\n")
  local new = { method = line(), path = line(), raw_path = line(), query = line(), context = {} }
  new.var = { kong_request_id = id, remote_addr = line() }
  new.headers, new.truncated = read_headers(line, MOST_HEADERS)
  run(id, new, "rewrite")
  new.headers = nil
  if new.var.logged_path then
    change("L", new.var.logged_path)
  end
end

function phases.access(id)
  run(id, requests[id], "access")
end

--- Also runs body_filter without a body. If that calls get_raw_body, the response waits until the body is complete.
function phases.header_filter(id, text)
  local line = text:gmatch("([^\n]*)\n")
  -- A malformed request has had no earlier phase.
  local known = requests[id] or { var = { kong_request_id = id }, context = {} }
  known.source, known.status, known.answer = line(), tonumber(line()), read_headers(line, math.huge)
  run(id, known, "header_filter", "body_filter")
  if known.is_held then
    change("W", "")
  end
end

function phases.body_filter(id, body)
  requests[id].body = body
  run(id, requests[id], "body_filter")
  return request.body
end

function phases.forget(id)
  requests[id] = nil
end

return function(phase, ...)
  changes = {}
  return phases[phase](...) or table.concat(changes, "\0")
end
