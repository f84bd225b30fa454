-- The part of Kong's plugin development kit that the plugins of this repository use, for Lua in WebAssembly. TypeScript
-- (lua-plugin.ts) calls one function a phase, with the request or the answer as one string, and gets a list of changes as
-- one string: crossing the border costs more than the work.

local MOST_HEADERS, MOST_ARGUMENTS = 100, 100
local MOST_SHARED_KEYS = 50000
local EXIT = {}

local sha256_hex = ...
local handler, config
-- By request: what plugins see of it, from its first phase to its last.
local requests = {}
local request, changes

local function change(kind, ...)
  changes[#changes + 1] = kind .. table.concat({ ... })
end

-- nginx escapes what would end the header line.
local function escape(value)
  return (tostring(value):gsub("[%z\1-\8\10-\31\127]", function(char) return ("%%%02X"):format(char:byte()) end))
end

local function unescape(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

--- Reads names and values, one a line, as ngx.req.get_headers does: a name sent twice has a table of values.
local function read_headers(next_line, most)
  local headers, count = {}, 0
  for name in next_line do
    count = count + 1
    if count > most then
      return headers, "truncated"
    end
    local value, known = next_line(), headers[name]
    if type(known) == "table" then
      known[#known + 1] = value
    else
      headers[name] = known and { known, value } or value
    end
  end
  return headers
end

-- A shared dictionary in two halves: when one is full, the older is forgotten.
local Shared = {}
Shared.__index = Shared

function Shared:get(key)
  local entry = self.new[key] or self.old[key]
  return entry and entry.expires > os.time() and entry.value or nil
end

function Shared:incr(key, by, init, seconds)
  local value = self:get(key)
  if value then
    local entry = self.new[key] or self.old[key]
    entry.value = value + by
    return entry.value
  end
  if self.count >= MOST_SHARED_KEYS then
    self.old, self.new, self.count = self.new, {}, 0
  end
  self.count = self.count + 1
  self.new[key] = { value = init + by, expires = os.time() + seconds }
  return init + by
end

ngx = {
  shared = setmetatable({}, {
    __index = function(shared, name)
      shared[name] = setmetatable({ new = {}, old = {}, count = 0 }, Shared)
      return shared[name]
    end,
  }),
}
kong = { ctx = {}, client = {}, request = {}, response = {}, service = { request = {} } }

function kong.client.get_forwarded_ip() return request.address end
function kong.request.get_method() return request.method end
function kong.request.get_path() return request.path end
function kong.request.get_raw_path() return request.raw_path end
function kong.request.get_raw_query() return request.query end

--- In later phases other plugins may have changed them, which is not known here.
function kong.request.get_headers()
  assert(request.headers, "kong.request.get_headers is implemented for the phase rewrite alone")
  return request.headers, request.truncated
end

function kong.request.get_query_arg(wanted)
  local count = 0
  for argument in request.query:gmatch("[^&]+") do
    local name, equals, value = argument:match("^([^=]*)(=?)(.*)$")
    name = unescape(name)
    count = count + (name == "" and 0 or 1)
    if count > MOST_ARGUMENTS then
      return nil
    elseif name == wanted then
      return equals == "" or unescape(value)
    end
  end
end

local function set_header(name, value) change("S", name, "\n", escape(value)) end
local function clear_header(name) change("C", name) end

kong.service.request.set_header = set_header
kong.service.request.clear_header = clear_header
function kong.service.request.set_raw_query(query)
  request.query = query
  change("Q", query)
end

function kong.response.get_source() return request.source end
function kong.response.get_status() return request.status end
function kong.response.get_header(name)
  local value = request.answer[name:lower()]
  return type(value) == "table" and value[1] or value
end
function kong.response.set_header(name, value)
  request.answer[name:lower()] = tostring(value)
  set_header(name, value)
end
function kong.response.clear_header(name)
  request.answer[name:lower()] = nil
  clear_header(name)
end
function kong.response.get_raw_body()
  request.is_held = true
  return request.body
end
function kong.response.set_raw_body(body) request.body = body end

function kong.response.exit(status, body, headers)
  change("X", status)
  for name, value in pairs(headers or {}) do
    set_header(name, value)
  end
  change("B", body or "")
  error(EXIT, 0)
end

local function begin(id, of_request)
  requests[id] = of_request
  request, changes = of_request, {}
  ngx.var, kong.ctx.plugin = of_request.var, of_request.context
end

local function run(phase)
  if handler[phase] then
    local ok, problem = pcall(handler[phase], handler, config)
    if not ok and problem ~= EXIT then
      error(problem, 0)
    end
  end
end

local function read_config(fields, given)
  local values = {}
  for _, field in ipairs(fields) do
    local name, rule = next(field)
    local value = given[name]
    values[name] = rule.type == "integer" and math.tointeger(tonumber(value)) or value
    assert(math.type(values[name]) == rule.type or type(values[name]) == rule.type, name .. ": expected type " .. rule.type)
    assert(not rule.gt or values[name] > rule.gt, name .. ": expected more than " .. tostring(rule.gt))
    given[name] = nil
  end
  assert(next(given) == nil, tostring(next(given)) .. ": the schema has no such field")
  return values
end

-- What TypeScript calls, by name.
local phases = {}

function phases.preload(name, source)
  package.preload[name] = assert(load(source, "@" .. name))
end

--- @param given  the configuration, a name or a value a line
--- @return the plugin's priority
function phases.start(name, given)
  package.preload["kong.db.schema.typedefs"] = function() return {} end
  package.preload["kong.tools.sha256"] = function() return { sha256_hex = sha256_hex } end
  for _, field in ipairs(require("kong.plugins." .. name .. ".schema").fields) do
    if field.config then
      config = read_config(field.config.fields, (read_headers(given:gmatch("([^\n]*)\n"), math.huge)))
    end
  end
  handler = require("kong.plugins." .. name .. ".handler")
  return tostring(handler.PRIORITY)
end

function phases.rewrite(id, text)
  local line = text:gmatch("([^\n]*)\n")
  begin(id, { method = line(), path = line(), raw_path = line(), query = line(), address = line(), var = {}, context = {} })
  request.headers, request.truncated = read_headers(line, MOST_HEADERS)
  run("rewrite")
  request.headers = nil
  if ngx.var.logged_path then
    change("L", ngx.var.logged_path)
  end
  return table.concat(changes, "\0")
end

function phases.access(id)
  begin(id, requests[id])
  run("access")
  return table.concat(changes, "\0")
end

--- Also asks the phase body_filter whether it wants the body, which is then held back until it is whole.
function phases.header_filter(id, text)
  local line = text:gmatch("([^\n]*)\n")
  local address = line()
  -- A request that could not be read has had no phases.
  begin(id, requests[id] or { address = address, var = {}, context = {} })
  request.source, request.status = line(), tonumber(line())
  request.answer = read_headers(line, math.huge)
  run("header_filter")
  run("body_filter")
  if request.is_held then
    change("W")
  else
    requests[id] = nil
  end
  return table.concat(changes, "\0")
end

function phases.body_filter(id, body)
  begin(id, requests[id])
  requests[id] = nil
  request.body = body
  run("body_filter")
  return request.body
end

--- The client has gone.
function phases.forget(id)
  requests[id] = nil
end

return function(phase, ...) return phases[phase](...) or "" end
