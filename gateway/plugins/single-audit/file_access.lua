-- Step 2 of downloading a suppressed report. PostgREST's messages do not tell a client what is missing from the request.

local refusal = require "kong.plugins.single-audit.refusal"

local file_access = {
  path = "/rpc/request_file_access",
  hint = "Send a POST request to /rpc/request_file_access with a Tribal API key, the headers content-profile: admin_api_v1_1_0 and "
    .. "content-type: application/json, and the body {\"report_id\": \"2023-06-GSAFAC-0000000001\"}.",
}

local INCOMPLETE = refusal.body(
  "file_access_request_incomplete", "This request for a report is incomplete or malformed.", file_access.hint
)

--- Whether the client means this function. Some clients leave out /rpc.
function file_access.is_meant(path)
  return path:find("/request_file_access", 1, true) ~= nil
end

--- Replaces errors of PostgREST and PostgreSQL, except for an Accept that cannot be served. The API's own errors have codes
--- in words.
function file_access.explain(body)
  local code = body:match('"code":"(%w*)"') or ""
  return (code:find("^PGRST") or #code == 5) and code ~= "PGRST107" and INCOMPLETE or body
end

return file_access
