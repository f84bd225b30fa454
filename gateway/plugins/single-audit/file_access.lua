-- Step 2 of downloading a suppressed report: PostgREST's error messages do not say what is missing from the request.

local refusal = require "kong.plugins.single-audit.refusal"

local file_access = {
  path = "/rpc/request_file_access",
  hint = "Send a POST request to /rpc/request_file_access with a Tribal API key, the header "
    .. "content-type: application/json, and the body {\"report_id\": \"2023-06-GSAFAC-0000000001\"}.",
}

local CODE = "file_access_request_incomplete"

--- The error that replaces unclear ones.
file_access.incomplete = {
  code = CODE,
  body = refusal.body(CODE, "This request for a report is incomplete or malformed.", file_access.hint),
}

--- Whether the path is, or is meant to be, that of this function. Some clients leave out /rpc.
function file_access.matches(path)
  return path:find("/request_file_access", 1, true) ~= nil
end

--- Whether an error comes from PostgREST or PostgreSQL, except if no format in Accept is available (PGRST107). The API's
--- own codes are words.
function file_access.is_unclear(code)
  return code ~= "PGRST107" and (code:find("^PGRST") or #code == 5) and true or false
end

return file_access
