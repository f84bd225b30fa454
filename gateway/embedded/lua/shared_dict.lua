-- A dictionary like those in ngx.shared, in the memory of this process.

local SWEEP_SECONDS = 60

--- @param now  function that returns the time in seconds
return function(now)
  local dict, entries, next_sweep = {}, {}, now() + SWEEP_SECONDS

  local function is_expired(entry)
    return entry.expires_at ~= nil and entry.expires_at <= now()
  end

  -- Removes expired entries, so that keys that nobody asks for again do not fill the memory.
  local function sweep()
    if now() < next_sweep then
      return
    end
    next_sweep = now() + SWEEP_SECONDS
    for key, entry in pairs(entries) do
      if is_expired(entry) then
        entries[key] = nil
      end
    end
  end

  function dict:get(key)
    local entry = entries[key]
    return entry and not is_expired(entry) and entry.value or nil
  end

  function dict:set(key, value, seconds)
    sweep()
    entries[key] = { value = value, expires_at = seconds and now() + seconds }
  end

  --- Sets a value that does not exist.
  function dict:add(key, value, seconds)
    if self:get(key) ~= nil then
      return false, "exists"
    end
    self:set(key, value, seconds)
    return true
  end

  --- @param initial  where to start if there is no value; without it, only an existing value changes
  --- @param seconds  how long a value that starts here is kept; without it, forever
  function dict:incr(key, amount, initial, seconds)
    if self:get(key) == nil then
      if initial == nil then
        return nil, "not found"
      end
      self:set(key, initial, seconds)
    end
    entries[key].value = entries[key].value + amount
    return entries[key].value
  end

  function dict:delete(key)
    entries[key] = nil
  end

  return dict
end
