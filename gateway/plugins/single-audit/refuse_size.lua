-- Refuses requests that would take long to read. This is checked before anything else: Kong normalizes a path in time
-- that grows with the square of its slashes, before a flood of requests is noticed.

local refusal = require "kong.plugins.single-audit.refusal"

local refuse = refusal.bad_request

local function refuse_path(request, config)
  if #request.raw_path > config.longest_path then
    return refusal.no_such_table()
  end
end

local function refuse_query(request, config)
  if #request.query > config.longest_query then
    return refuse(
      "The query string is too long.",
      "Send at most " .. config.longest_query .. " bytes; split a longer query into several requests."
    )
  end
end

-- nginx and PostgREST would read a different query each.
local function refuse_fragment(request)
  if request.uri:find("#", 1, true) then
    return refuse("The URL contains #.", "Encode # as %23.")
  end
end

local function measure(name, value)
  if type(value) ~= "table" then
    return #name + #tostring(value)
  end
  local size = 0
  for _, each in ipairs(value) do
    size = size + measure(name, each)
  end
  return size
end

local function refuse_headers(request, config)
  if request.has_more_headers then
    return refuse("The request has too many headers.", "Send 100 headers or fewer.")
  end
  local size = 0
  for name, value in pairs(request.headers) do
    size = size + measure(name, value)
  end
  if size > config.longest_headers then
    return refuse("The headers are too long.", "Send at most " .. config.longest_headers .. " bytes of headers.")
  end
end

--- @param request  { uri (as sent), raw_path, query, headers (name to value or values), has_more_headers }
--- @return a refusal, or nil
return function(request, config)
  return refuse_path(request, config)
    or refuse_query(request, config)
    or refuse_fragment(request)
    or refuse_headers(request, config)
end
