-- Rewrites the PostgREST errors that a client could not act on, and all errors from Kong and nginx, so that every error
-- is JSON, regardless of the Accept header.

local file_access = require "kong.plugins.single-audit.file_access"
local refusal = require "kong.plugins.single-audit.refusal"

local TRY_AGAIN = "Send the request again in half a minute."
local DATABASE_UNAVAILABLE = refusal.body("database_unavailable", "The database cannot be reached.", TRY_AGAIN)
local TIMEOUT_HINT = "The query ran longer than this key allows. Filter by report_id, audit_year, fac_accepted_date "
  .. "or another indexed column, ask for fewer rows, or download the bulk files."
local AGGREGATE_HINT = "The tables totals_by_state and totals_by_agency have totals for each audit year. For other totals, download the bulk files."

local KONG_ERRORS = {
  [400] = refusal.body("bad_request", "The request is not valid HTTP, or its headers are too large.", "Send fewer or shorter headers."),
  [404] = refusal.body("no_such_table", "There is no such table.", "Send the request to /<table>. GET / lists the tables."),
  [405] = refusal.body("method_not_allowed", "This API is read-only.", "Use GET or HEAD."),
  [408] = refusal.body("request_timeout", "The request did not arrive in time.", "Send it again."),
  [413] = refusal.body("payload_too_large", "The body is too large.", "Send no body. Only /rpc/request_file_access takes one: a report_id and nothing else."),
  [414] = refusal.body("uri_too_long", "The URL is too long.", "Split the query into several requests."),
  [429] = refusal.body(
    "OVER_RATE_LIMIT", "You have reached the rate limit. Wait the number of seconds in the header Retry-After.",
    "If you use DEMO_KEY, get your own key and send it in the header x-api-key. The API's website says how to get one."
  ),
  [500] = refusal.body("gateway_failed", "The gateway failed.", TRY_AGAIN),
  [502] = refusal.body("api_unavailable", "The API is unavailable.", TRY_AGAIN),
  [503] = refusal.body("api_unavailable", "The API is unavailable.", TRY_AGAIN),
  [504] = refusal.body("api_timeout", "The API did not answer in time.", "Filter by an indexed column, or ask for fewer rows."),
}

local OTHER_ERROR = refusal.body("request_refused", "The gateway cannot serve this request.", "Send a GET request without a body.")

-- The statuses of PostgREST's errors that this file rewrites on every path.
local REWRITTEN_STATUSES = { [400] = true, [401] = true, [429] = true, [500] = true, [503] = true }

local rewrite_error = {}

--- @param source  "service" for PostgREST's response, "exit" or "error" for Kong's
--- @return whether to rewrite the body, which must be held back until it is complete
function rewrite_error.applies_to(source, status, path)
  return status >= 400 and (source ~= "service" or REWRITTEN_STATUSES[status] or file_access.matches(path))
end

--- @param body  the complete body
--- @return the body that the client gets
function rewrite_error.rewrite(source, status, body, path)
  if source ~= "service" then
    return KONG_ERRORS[status] or OTHER_ERROR
  end
  -- PostgREST's message reveals the database's address. If the connection breaks during a response, the error is a 400
  -- with an empty code.
  if body:find('^{"code":"PGRST00') or body:find('^{"code":"",') then
    return DATABASE_UNAVAILABLE
  elseif status == 401 or status == 429 then
    return refusal.add_error(body)
  elseif status < 500 and file_access.matches(path) then
    return file_access.explain(body)
  elseif body:find('"canceling statement due to statement timeout"', 1, true) then
    return (body:gsub('"hint":null', '"hint":"' .. TIMEOUT_HINT .. '"', 1))
  elseif body:find('"code":"PGRST123"', 1, true) then
    return (body:gsub('"hint":null', '"hint":"' .. AGGREGATE_HINT .. '"', 1))
  end
  return body
end

return rewrite_error
