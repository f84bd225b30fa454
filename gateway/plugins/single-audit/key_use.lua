-- Tells the report service which keys are used, so that their last-used dates are recorded. Requests do not wait for this.
--
-- A worker sends one message at a time, and forgets its keys if the report service does not answer. So a key is sent with its
-- 1st, 2nd, 4th, 8th … request of a window: most days have several chances.

local http = require "resty.http"

local MILLISECONDS = 1000
-- The most keys in one message.
local MOST = 100

local key_use = {}

-- This worker's state: the hashes for the next message.
local waiting, is_sending = {}, false

local function is_power_of_two(number)
  while number > 1 do
    number = number / 2
  end
  return number == 1
end

local function send(url)
  local hashes = waiting
  waiting = {}
  local client = http.new()
  client:set_timeout(MILLISECONDS)
  client:request_uri(url, { method = "POST", body = table.concat(hashes, "\n") })
end

-- Runs in a timer.
local function send_all(is_stopping, url)
  while #waiting > 0 and not is_stopping do
    pcall(send, url)
  end
  is_sending = false
end

--- @param url     where the report service records used keys
--- @param hash    the hash of a key whose request PostgREST answered
--- @param number  the request's number in its window
function key_use.note(url, hash, number)
  if not is_power_of_two(number) or #waiting == MOST then
    return
  end
  waiting[#waiting + 1] = hash
  if not is_sending then
    is_sending = true
    if not ngx.timer.at(0, send_all, url) then
      is_sending = false
    end
  end
end

return key_use
