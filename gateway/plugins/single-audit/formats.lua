-- The formats that clients may ask for in Accept. PostgREST refuses most others with 406, but for GeoJSON it calls a
-- function of PostGIS, which this database does not have.

local refusal = require "kong.plugins.single-audit.refusal"

local CSV = "text/csv"
local GEOJSON = "application/geo+json"

local formats = {
  hint = "Ask for application/json, text/csv or application/vnd.pgrst.object+json (a single row).",
}

-- Programs that read a table from an address, such as spreadsheets, cannot set Accept.
local function choose_csv(list, format)
  if format ~= "csv" then
    return nil, refusal.bad_request("The parameter format is not csv.", "Send format=csv, or ask for another format in Accept.")
  end
  if not list or list == "" or list:find("*/*", 1, true) or list:find(CSV, 1, true) then
    return CSV
  end
  return nil, refusal.bad_request("The parameter format=csv contradicts the header Accept.", "Send only one of them.")
end

--- Removes the formats that are not served from Accept.
--- @param accept  the header's value, its values, or nil
--- @param format  the value of the parameter format, which replaces an Accept that allows it; or nil
--- @return the header without them, in lowercase, as PostgREST 12 needs it; or nil and a refusal, if nothing is left
function formats.choose(accept, format)
  local list = type(accept) == "table" and table.concat(accept, ",") or accept
  list = list and list:lower()
  if format then
    return choose_csv(list, format)
  end
  if not list or not list:find("geo+json", 1, true) then
    return list
  end
  local served = {}
  for format in list:gmatch("[^,]+") do
    if format:gsub("%s", ""):match("^[^;]*") ~= GEOJSON then
      served[#served + 1] = format
    end
  end
  if #served == 0 then
    return nil, refusal.new(406, "PGRST107", "None of these media types are available: " .. GEOJSON, formats.hint)
  end
  return table.concat(served, ",")
end

return formats
