-- Writes errors in PostgREST's format, {code, message, details, hint}, and adds {error: {code, message}}, which clients
-- of api.data.gov read. The header Proxy-Status repeats the code (RFC 9209), because a response to HEAD has no body.

local function quote(text)
  return text and '"' .. text:gsub('"', '\\"') .. '"' or "null"
end

local refusal = { content_type = "application/json; charset=utf-8" }

--- The value of the header Proxy-Status. PostgREST 13 and later, and request.refuse() in SQL, write it in the same way.
function refusal.proxy_status(code)
  return "Gateway; error=" .. code
end

--- The body of an error. The texts are the plugin's own, so quotation marks are the only characters to escape.
function refusal.body(code, message, hint)
  local body = '{"code":%s,"message":%s,"details":null,"hint":%s}'
  return refusal.add_error(body:format(quote(code), quote(message), quote(hint)))
end

--- Adds {error: {code, message}} to the body of an error.
function refusal.add_error(body)
  local fields, code, message = body:match("^(.*)}$"), body:match('"code":("[^"]*")'), body:match('"message":("[^"\\]*")')
  return fields and code and message and fields .. ',"error":{"code":' .. code .. ',"message":' .. message .. "}}" or body
end

--- The response to a refused request.
function refusal.new(status, code, message, hint, headers)
  headers = headers or {}
  headers["Content-Type"] = refusal.content_type
  headers["Proxy-Status"] = refusal.proxy_status(code)
  return { status = status, headers = headers, body = refusal.body(code, message, hint) }
end

--- The response to a request that breaks one of the gateway's rules.
function refusal.bad_request(message, hint)
  return refusal.new(400, "request_refused", message, hint)
end

function refusal.no_such_table()
  return refusal.new(404, "no_such_table", "There is no such table.", "Send the request to /<table>. GET / lists the tables.")
end

return refusal
