-- Chooses the responses that Kong's cache keeps (gateway/kong.env): large pages, which many clients read after a publication.
--
-- Kong asks PostgREST each time whether the key is valid and the cached page current (If-None-Match). PostgreSQL permits with
-- X-Accel-Expires that a response is kept, and answers 304 only to a key of the tier whose response was kept (request.decide).

-- Smaller responses cost little more than asking whether they are current.
local FEWEST_ROWS = 1000
-- How long the gateway remembers that a key's responses may be kept.
local PERMIT_SECONDS = 3600
-- How long a key reads without the cache after a response from it broke.
local BROKEN_SECONDS = 60

local page_cache = {}

local function find_limit(parameters)
  local limit = 0
  for _, parameter in ipairs(parameters) do
    if parameter.name == "limit" then
      limit = math.max(limit, tonumber(parameter.value) or 0)
    end
  end
  return limit
end

local function name_permit(hash)
  return "cacheable:" .. hash:sub(1, 32)
end

-- nginx does not send these to PostgREST if it uses its cache, and would answer some of them itself.
local CONDITIONS = { "range", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range" }

local function has_condition(headers)
  for _, name in ipairs(CONDITIONS) do
    if headers[name] then
      return true
    end
  end
  return false
end

--- Whether the response is a page that may be kept.
function page_cache.is_page(request)
  return request.method == "GET" and find_limit(request.parameters) >= FEWEST_ROWS and not has_condition(request.headers)
end

--- Whether to use the cache for a request. While nginx fetches a page, other requests for the page wait. So unknown keys, and keys
--- whose responses are not kept, do not use the cache.
--- @param counts  a dictionary like ngx.shared
function page_cache.is_permitted(request, counts)
  return counts:get(name_permit(request.hash)) == true
end

--- @param is_permitted  whether PostgreSQL permitted that the key's last page is kept
function page_cache.note(request, is_permitted, counts)
  local name = name_permit(request.hash)
  if not is_permitted then
    counts:delete(name)
  elseif counts:get(name) ~= false then
    counts:set(name, true, PERMIT_SECONDS)
  end
end

--- Notes that a response from the cache did not reach the client whole. If the disk is full, nginx breaks every response that it
--- would keep, so a client that tries again must not use the cache.
function page_cache.note_broken(request, counts)
  counts:set(name_permit(request.hash), false, BROKEN_SECONDS)
end

local function join(values)
  return type(values) == "table" and table.concat(values, ",") or values or ""
end

--- The part of the cache's key that is not the URL. A response depends on no other header of a client. Headers have no line breaks, so
--- no client can forge the key of another request. Without the tier, clients of different tiers would replace each other's pages.
--- @param rules  of the orders that the gateway completes
function page_cache.key(request, rules)
  local headers = request.headers
  local parts = { request.tier or "", rules or "", request.accept or "", join(headers["accept-profile"]), join(headers.prefer), "" }
  return table.concat(parts, "\n")
end

return page_cache
