-- Refusals in the form of PostgREST's errors: {code, message, details, hint}.

local JSON = "application/json; charset=utf-8"

local function quote(text)
  return text and '"' .. text .. '"' or "null"
end

local refusal = { content_type = JSON }

--- The body of an error. The texts are the plugin's own and need no JSON escaping.
function refusal.body(code, message, hint, details)
  return '{"code":"' .. code .. '","message":"' .. message .. '","details":' .. quote(details) .. ',"hint":' .. quote(hint) .. "}"
end

--- The response to a refused request.
function refusal.new(status, code, message, hint, headers)
  headers = headers or {}
  headers["Content-Type"] = JSON
  return { status = status, headers = headers, body = refusal.body(code, message, hint) }
end

return refusal
