-- Rewrites the PostgREST errors that a client could not act on, and all errors from Kong and nginx, so that every error
-- is JSON, regardless of the Accept header, and every code is in Proxy-Status as far as it is known before the body.

local correct_parameter = require "kong.plugins.single-audit.correct_parameter"
local explain_error = require "kong.plugins.single-audit.explain_error"
local file_access = require "kong.plugins.single-audit.file_access"
local formats = require "kong.plugins.single-audit.formats"
local refusal = require "kong.plugins.single-audit.refusal"

local TRY_AGAIN = "Send the request again in half a minute."

local function define(code, message, hint)
  return { code = code, body = refusal.body(code, message, hint) }
end

local DATABASE_UNAVAILABLE = define("database_unavailable", "The database cannot be reached.", TRY_AGAIN)
local KONG_ERRORS = {
  [400] = define("bad_request", "The request is not valid HTTP, or its headers are too large.", "Send fewer or shorter headers, and percent-encode spaces and non-ASCII letters."),
  [404] = { code = "no_such_table", body = refusal.no_such_table().body },
  [405] = define("method_not_allowed", "This API is read-only.", "Use GET or HEAD."),
  [408] = define("request_timeout", "The request did not arrive in time.", "Send it again."),
  [413] = define("payload_too_large", "The body is too large.", "Send no body. Only /rpc/request_file_access takes one: a report_id and nothing else."),
  [414] = define("uri_too_long", "The URL is too long.", "Split the query into several requests."),
  [503] = define("api_unavailable", "The API is unavailable.", TRY_AGAIN),
  [504] = define("api_timeout", "The API did not answer in time.", "Filter by an indexed column, or ask for fewer rows."),
}
local OTHER_ERROR = define("request_refused", "The gateway cannot serve this request.", "Send a GET request without a body.")

-- Hints for PostgREST's and PostgreSQL's codes. The versions of PostgREST have different codes and hints for a table that
-- does not exist.
local HINTS = {
  ["42703"] = "The page /reference of the API's website lists the columns.",
  ["42704"] = "Leave the casts (::) out of `select`.",
  ["42846"] = "Leave the casts (::) out of `select`.",
  ["42883"] = "Write eq, gt, gte, lt, lte or in: the column's type does not have this operator.",
  ["53400"] = "Sorting or joining these rows takes more disk space than a request may use. Filter by report_id, audit_year, "
    .. "fac_accepted_date or another indexed column, sort by an indexed column, or download the bulk files.",
  ["57014"] = "The query ran longer than this key allows. Filter by report_id, audit_year, fac_accepted_date "
    .. "or another indexed column, ask for fewer rows, leave out the count, or download the bulk files. "
    .. "A search is fastest in auditee_name, federal_program_name, passthrough_name and planned_action, for rare words of at least four letters.",
  PGRST003 = TRY_AGAIN,
  PGRST103 = "Ask for rows that exist, and in Range for a first row before the last: the number of rows is after the / in Content-Range.",
  PGRST107 = formats.hint,
  PGRST116 = "For a list, leave application/vnd.pgrst.object+json out of Accept. For a single row, filter by a key, such as report_id in `general`.",
  PGRST118 = "A list can only be sorted by itself: write `findings.order=reference_number`, with the name of the embedded table.",
  PGRST119 = "Leave the periods before the table out of `select`: several of its rows belong to one row.",
  PGRST122 = "Leave handling=strict out of the header Prefer, or the preferences that `details` names.",
  PGRST123 = "To count rows, send the header Prefer: count=exact. The tables totals_by_state, totals_by_agency, totals_by_program, totals_by_program_and_state and totals_by_peers have totals for each audit year. For other totals, download the bulk files.",
  PGRST202 = "Check the function's name and parameters: GET / lists the functions.",
}

-- If the connection breaks while the database answers, the code is empty. A replica cancels queries (40001) that a publication or a
-- deployment would have to wait for. A server that stops ends queries with 57P01 or 57P02, and refuses connections with 57P03.
local function is_interrupted(code)
  return code == "" or code == "40001" or code:find("^PGRST00[012]$") ~= nil or code:find("^57P0[123]$") ~= nil
end

-- The position after the JSON string that begins at this position.
local function skip_string(body, at)
  repeat
    at = body:find('["\\]', at + 1)
    local is_escape = at and body:sub(at, at) == "\\"
    at = is_escape and at + 1 or at
  until not at or not is_escape
  return at and at + 1
end

-- How much of a text an explanation reads.
local LONGEST_READ = 500

-- The start of a text in an error, as JSON writes it; nil for null.
local function read_text(body, field)
  local _, before = body:find('"' .. field .. '":"', 1, true)
  local after = before and skip_string(body:sub(before, before + LONGEST_READ), 1)
  return before and body:sub(before + 1, after and before + after - 3 or before + LONGEST_READ)
end

local function replace_text(body, field, text)
  local _, before = body:find('"' .. field .. '":', 1, true)
  if not before then
    return body
  end
  local is_null = body:find("^null", before + 1) ~= nil
  local after = is_null and before + 5 or skip_string(body, before + 1)
  return after and body:sub(1, before) .. '"' .. text .. '"' .. body:sub(after) or body
end

-- PostgREST 12 sends no code of its own. It refuses an unavailable format (PGRST107) with 415, and later versions with 406.
local function is_unclear_access(status, code)
  if not code then
    return status ~= 406 and status ~= 415
  end
  return file_access.is_unclear(code)
end

local rewrite_error = {}

-- Clients repeat requests after 503. Kong sends 500 if DNS does not answer in time. nginx sends 502 if the upstream refused or broke the
-- connection, and 504 even if it did not accept the connection in time. Clients may repeat a call that was not answered, because its
-- token was not handed out.
local function rewrite_kong_status(status, path, connect_times)
  local is_connected = not connect_times or not connect_times:find("-$")
  local may_repeat = status == 500 or status == 502 or status == 504 and (not is_connected or file_access.matches(path))
  return may_repeat and 503 or status
end

--- What the client gets instead of a status and its Proxy-Status.
--- @param source         "service" for PostgREST's response, "exit" or "error" for Kong's
--- @param sent           PostgREST's header Proxy-Status: only PostgREST 13 and later, and request.refuse() in SQL, send it
--- @param connect_times  nginx's $upstream_connect_time, or nil; it ends in "-" if no connection was made
--- @return the status, and the header (or nil)
function rewrite_error.rewrite_head(source, status, sent, path, connect_times)
  if source ~= "service" then
    status = rewrite_kong_status(status, path, connect_times)
    return status, refusal.proxy_status((KONG_ERRORS[status] or OTHER_ERROR).code)
  end
  local code = sent and sent:match("error=(.*)$")
  if status == 416 and not code then
    -- With a count, PostgREST sends no Proxy-Status.
    return status, refusal.proxy_status("PGRST103")
  end
  if code and is_interrupted(code) then
    return 503, refusal.proxy_status(DATABASE_UNAVAILABLE.code)
  elseif status < 500 and file_access.matches(path) and is_unclear_access(status, code) then
    return status, refusal.proxy_status(file_access.incomplete.code)
  end
  -- PostgREST sends 504 if all its database connections are in use (PGRST003). For request.refuse(), 504 stands for 503.
  return status == 504 and 503 or status, sent
end

--- When a client should repeat a request that got 503 from PostgREST or Kong. A request that exceeds temp_file_limit (53400)
--- fails again. PostgREST 12 sends the same headers for it as for an unreachable database, so neither gets Retry-After.
--- @param proxy_status  the response's Proxy-Status, or nil
--- @param sent          its Retry-After, or nil; 0 if PostgREST does not know
--- @return the seconds for Retry-After, or nil
function rewrite_error.retry_after(proxy_status, sent)
  if proxy_status and proxy_status:find("error=53400$") or not proxy_status and sent == "0" then
    return nil
  end
  return (sent or "0") == "0" and "30" or sent
end

--- @param body     the complete body
--- @param request  { path, parameters (of the query), headers }
--- @return the body that the client gets
function rewrite_error.rewrite_body(source, status, body, request)
  if source ~= "service" then
    return (KONG_ERRORS[status] or OTHER_ERROR).body
  end
  local code = body:match('"code":"([^"]*)"')
  if code and is_interrupted(code) then
    return DATABASE_UNAVAILABLE.body
  elseif status == 401 or status == 429 then
    return refusal.add_error(body)
  elseif status < 500 and file_access.matches(request.path) and file_access.is_unclear(code or "") then
    return file_access.incomplete.body
  end
  local hint = explain_error(code, read_text(body, "message") or "", read_text(body, "hint"), request) or HINTS[code]
  if code == "PGRST100" and correct_parameter.has_key(request) then
    body = replace_text(body, "message", "failed to parse filter")
  end
  return hint and replace_text(body, "hint", hint) or body
end

return rewrite_error
