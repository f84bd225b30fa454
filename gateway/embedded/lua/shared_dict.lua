-- A dictionary like those in ngx.shared, in the memory of this process.

local SWEEP_SECONDS = 60

--- @param now  function that returns the time in seconds
return function(now)
  local dict, entries, next_sweep = {}, {}, now() + SWEEP_SECONDS

  local function is_expired(entry, time)
    return entry.expires_at ~= nil and entry.expires_at <= time
  end

  -- Removes expired entries, so that keys that nobody asks for again do not fill the memory.
  local function sweep(time)
    if time >= next_sweep then
      next_sweep = time + SWEEP_SECONDS
      for key, entry in pairs(entries) do
        if is_expired(entry, time) then
          entries[key] = nil
        end
      end
    end
  end

  local function find(key)
    local entry = entries[key]
    return entry and not is_expired(entry, now()) and entry or nil
  end

  local function create(key, value, seconds)
    local time = now()
    sweep(time)
    entries[key] = { value = value, expires_at = (seconds or 0) > 0 and time + seconds or nil }
    return entries[key]
  end

  function dict:get(key)
    local entry = find(key)
    return entry and entry.value
  end

  function dict:set(key, value, seconds)
    create(key, value, seconds)
    return true
  end

  function dict:add(key, value, seconds)
    if find(key) then
      return false, "exists"
    end
    return self:set(key, value, seconds)
  end

  function dict:incr(key, amount, initial, seconds)
    local entry = find(key) or initial and create(key, initial, seconds)
    if not entry then
      return nil, "not found"
    end
    entry.value = entry.value + amount
    return entry.value
  end

  function dict:delete(key)
    entries[key] = nil
  end

  function dict:lpush(key, value)
    local list = (find(key) or create(key, {})).value
    table.insert(list, 1, value)
    return #list
  end

  function dict:rpop(key)
    local entry = find(key)
    return entry and table.remove(entry.value)
  end

  return dict
end
