-- Refuses requests without a key, with other methods and paths than the API has, requests that tell Kong to drop
-- headers, and headers that PostgREST cannot read.

local file_access = require "kong.plugins.single-audit.file_access"
local is_utf8 = require "kong.plugins.single-audit.is_utf8"
local refusal = require "kong.plugins.single-audit.refusal"

local refuse = refusal.bad_request
local READS = { GET = true, HEAD = true, OPTIONS = true }
local CALL_TYPES = { ["application/json"] = true, ["application/x-www-form-urlencoded"] = true }
local CONNECTION_OPTIONS = { close = true, ["keep-alive"] = true, te = true, upgrade = true, ["http2-settings"] = true }
-- Keys have at least 40 characters, so a path of at most this length cannot contain one, and logs may show it.
local LONGEST_TABLE_PATH = 39

local function is_table_path(path)
  return #path <= LONGEST_TABLE_PATH and path:find("^/[a-z0-9_/]*$") ~= nil
end

local function refuse_key(request)
  if not request.hash then
    local code = request.has_no_key and "API_KEY_MISSING" or "API_KEY_INVALID"
    local problem = request.has_no_key and "The request has no API key." or "The API key is not valid."
    return refusal.new(
      401, code, problem .. " Send a valid key in the header x-api-key. The API's website says how to get one.",
      "Use DEMO_KEY to try the API.", { ["WWW-Authenticate"] = "Key" }
    )
  end
end

local function refuse_method(request)
  local method, path = request.method, request.path
  if path == file_access.path and method ~= "POST" then
    return refusal.new(405, "method_not_allowed", "This function must be called with POST.", file_access.hint, { Allow = "POST" })
  elseif method == "POST" and path:find("^/rpc/") and not file_access.matches(path) then
    return refusal.new(404, "no_such_function", "There is no such function.", "The only function is /rpc/request_file_access.")
  elseif path ~= file_access.path and not READS[method] then
    local hint = file_access.matches(path) and file_access.hint or "Use GET or HEAD."
    return refusal.new(405, "method_not_allowed", "This API is read-only.", hint, { Allow = "GET, HEAD, OPTIONS" })
  end
end

local function refuse_path(request)
  local path = request.path
  -- For any other path, PostgREST's error is just {}.
  -- PostgREST fails on bytes that are not UTF-8, which Kong sends it in X-Forwarded-Path.
  if request.raw_path:find("[\128-\255]") or not is_table_path(path) or path:find("/", 2, true) and not path:find("^/rpc/[^/]+$") then
    return refusal.no_such_table()
  end
end

local function join(values, separator)
  return type(values) == "table" and table.concat(values, separator) or values
end

local function refuse_repeated_profile(request)
  for _, name in ipairs({ "accept-profile", "content-profile" }) do
    if type(request.headers[name]) == "table" then
      return refuse("The header " .. name .. " was sent more than once.", "Send it once.")
    end
  end
end

local function refuse_bytes(request)
  for name, values in pairs(request.headers) do
    if not is_utf8(name) or not is_utf8(join(values, " , ")) then
      return refuse("A header contains bytes that are not UTF-8.", "Encode headers as UTF-8.")
    end
  end
end

-- Kong drops the headers that Connection names, even headers that the gateway sets.
local function refuse_connection(request)
  for option in join(request.headers.connection or "", ","):lower():gmatch("[^%s,]+") do
    if not CONNECTION_OPTIONS[option] then
      return refuse("The Connection header must not name other headers.", "Send Connection: close or keep-alive, or leave the header out.")
    end
  end
end

local function refuse_body(request)
  local length = request.headers["content-length"]
  if READS[request.method] and (request.headers["transfer-encoding"] or (length and tonumber(length) ~= 0)) then
    return refuse("A " .. request.method .. " request may not have a body.", "Put filters in the query string.")
  end
end

-- Given another type, PostgREST would look for a function that takes a text.
local function refuse_content_type(request)
  local content_type = join(request.headers["content-type"], ",")
  if request.method == "POST" and content_type and not CALL_TYPES[content_type:lower():match("^%s*([^;%s]*)")] then
    return refusal.new(415, file_access.incomplete.code, "The body of this call is not JSON.", file_access.hint)
  end
end

local refuse_request = { is_table_path = is_table_path }

--- @param request  { has_no_key, hash (of the key), method, path (normalized), headers (name to value or values) }
--- @return a refusal, or nil
function refuse_request.check(request)
  return refuse_key(request)
    or refuse_method(request)
    or refuse_path(request)
    or refuse_repeated_profile(request)
    or refuse_bytes(request)
    or refuse_connection(request)
    or refuse_body(request)
    or refuse_content_type(request)
end

return refuse_request
