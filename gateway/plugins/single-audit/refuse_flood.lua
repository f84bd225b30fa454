-- Refuses requests from a client that sends too many, which nginx counts (kong.env). nginx itself would not give the client a
-- reason.

local refusal = require "kong.plugins.single-audit.refusal"

return function()
  if ngx.var.limit_req_status == "REJECTED_DRY_RUN" then
    return refusal.new(
      429, "too_many_requests_from_address", "Too many requests came from this client IP.",
      "Send fewer requests per second.", { ["Retry-After"] = "1" }
    )
  end
end
