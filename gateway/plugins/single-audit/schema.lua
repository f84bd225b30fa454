-- The plugin's settings in gateway/kong.yml, which Kong checks when it starts.

local function positive(description)
  return { type = "integer", required = true, gt = 0, description = description }
end

return {
  name = "single-audit",
  fields = {
    {
      config = {
        type = "record",
        fields = {
          { gateway_token = { type = "string", required = true, referenceable = true, encrypted = true, description = "The JWT that identifies the gateway to PostgREST." } },
          { demonstration_key = { type = "string", required = true, description = "The demonstration key, which has the tier demo." } },
          { writer_url = { type = "string", required = true, match = "^http://.+:%d+$", description = "URL of the PostgREST that gets the POST requests: http://HOST:PORT." } },
          { longest_query = positive("Longest query string, in bytes.") },
          { longest_parameter_name = positive("Longest parameter name, in bytes.") },
          { most_parameters = positive("Maximum number of parameters in a query.") },
          { most_items = positive("Maximum number of columns plus values in all parameters of a query.") },
          { most_columns = positive("Maximum number of columns in one select or order.") },
          { deepest_nesting = positive("Deepest nesting of parentheses.") },
          { most_embedded_tables = positive("Maximum number of tables that a select may embed.") },
          { deepest_embedding = positive("Deepest nesting of embedded tables.") },
          { longest_aliases = positive("The total bytes by which the aliases in a select may exceed their columns' names.") },
        },
      },
    },
  },
}
