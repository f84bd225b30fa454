-- Whether a request counts filtered rows. PostgreSQL may count them in an index, because only pages without a filter have the
-- order of the file (request.decide).

local COUNTS = { ["count=exact"] = true, ["count=estimated"] = true }
-- Every other parameter is a filter, even and=, or= and not.or=.
local NOT_FILTERS = { select = true, order = true, limit = true, offset = true, columns = true, on_conflict = true }

local function asks_for_count(prefer)
  for preference in (type(prefer) == "table" and table.concat(prefer, ",") or prefer or ""):gmatch("[^,%s]+") do
    if COUNTS[preference] then
      return true
    end
  end
  return false
end

--- @param parameters  the query's parameters (parse_query)
--- @param prefer      the values of the header Prefer
--- @return "true", or nil
return function(parameters, prefer)
  for _, parameter in ipairs(asks_for_count(prefer) and parameters or {}) do
    if not NOT_FILTERS[parameter.keyword] then
      return "true"
    end
  end
end
