-- The plugin's settings in gateway/kong.yml, which Kong checks when it starts.

local function positive(description, is_optional)
  return { type = "integer", required = not is_optional, gt = 0, description = description }
end

local limit = {
  type = "record",
  fields = {
    { by = { type = "string", required = true, one_of = { "key", "network" }, description = "Whether each key or each client network has this limit." } },
    { hour = positive("Requests per calendar hour (UTC).", true) },
    { day = positive("Requests per calendar day (UTC).", true) },
  },
}

local at_a_time = {
  type = "record",
  required = true,
  fields = {
    { key = positive("Requests of a key that may be in progress at a time.") },
    { network = positive("Requests of a client network that may be in progress at a time.") },
    { shared_key = positive("Requests that may be in progress at a time of a tier whose clients share a key (by: network).") },
    { all = positive("Requests of all clients that may be in progress at a time.") },
    { unread = positive("Responses that a client with a key may be reading at a time.") },
  },
}

local redis = {
  type = "record",
  required = true,
  fields = {
    { host = { type = "string", len_min = 0, description = "Host of the Redis in which gateways share their counts. Without it, this gateway counts alone." } },
    { port = { type = "integer", required = true, gt = 0, description = "Port of that Redis." } },
    { password = { type = "string", len_min = 0, referenceable = true, encrypted = true, description = "Password of that Redis, if it has one." } },
  },
}

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
          { usage_url = { type = "string", len_min = 0, description = "URL at which the report service records which keys are used. Without it, this is not recorded." } },
          { limits = { type = "map", required = true, keys = { type = "string" }, values = limit, description = "Rate limits by tier. The line default is for all other tiers." } },
          { at_a_time = at_a_time },
          { most_waiting = positive("Maximum number of waiting requests of a key, and of a client network.") },
          { longest_wait = positive("How long a request may wait, in seconds.") },
          { redis = redis },
          { longest_path = positive("Longest path, in bytes.") },
          { longest_query = positive("Longest query string, in bytes.") },
          { longest_headers = positive("Longest names and values of all headers, in bytes.") },
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
