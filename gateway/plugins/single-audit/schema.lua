-- The numbers of gateway/kong.yml, which Kong checks when it starts.

local typedefs = require "kong.db.schema.typedefs"

local function positive(description)
  return { type = "integer", required = true, gt = 0, description = description }
end

return {
  name = "single-audit",
  fields = {
    { consumer = typedefs.no_consumer },
    { protocols = typedefs.protocols_http },
    {
      config = {
        type = "record",
        fields = {
          { gateway_token = { type = "string", required = true, referenceable = true, encrypted = true, description = "The JWT that PostgREST knows the gateway by." } },
          { demonstration_key = { type = "string", required = true, description = "The public key, of the tier demo." } },
          { unknown_keys_per_minute = positive("Requests with unknown keys that an address may send.") },
          { longest_query = positive("Bytes of the query string.") },
          { longest_parameter_name = positive("Bytes of the name of a parameter.") },
          { most_parameters = positive("Parameters of a query.") },
          { most_items = positive("Columns and values of a query, of all parameters together.") },
          { most_columns = positive("Columns of one select or order.") },
          { deepest_nesting = positive("Parentheses within parentheses.") },
          { most_embedded_tables = positive("Tables that a select embeds.") },
          { deepest_embedding = positive("Tables within tables.") },
          { longest_aliases = positive("Bytes by which the aliases of a select may exceed the names, together.") },
        },
      },
    },
  },
}
