-- Refuses requests from a client that sends too many. nginx also counts responses in progress, because the disk buffers
-- what the client has not read yet (kong.env). nginx itself would not give the client a reason.

local refusal = require "kong.plugins.single-audit.refusal"

return function()
  if ngx.var.limit_req_status == "REJECTED_DRY_RUN" then
    return refusal.new(
      429, "too_many_requests_from_address", "Too many requests came from this client IP.",
      "Send fewer requests per second.", { ["Retry-After"] = "1" }
    )
  end
  if ngx.var.limit_conn_status == "REJECTED_DRY_RUN" then
    return refusal.new(
      429, "too_many_requests_at_a_time", "Too many responses to this client IP and key are in progress.",
      "Read each response to the end before you send the next request.", { ["Retry-After"] = "1" }
    )
  end
end
