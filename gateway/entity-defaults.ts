/** The collections of Kong's Admin API that this service uses. */
export const entityKinds = ["services", "routes", "plugins", "consumers", "key-auths"] as const;
export type EntityKind = (typeof entityKinds)[number];

/** What an entity holds besides its ID and its times. */
export type Fields = Record<string, unknown>;

/**
 * Every field of an entity, with the value that Kong 3.9.1 gives it when it is left out, as its Admin API shows it.
 * Recorded on real Kong (test/gateway/kong-conformance).
 */
export const entityDefaults: Readonly<Record<EntityKind, Fields>> = {
  services: {
    name: null,
    protocol: "http",
    host: null,
    port: 80,
    path: null,
    retries: 5,
    connect_timeout: 60_000,
    read_timeout: 60_000,
    write_timeout: 60_000,
    enabled: true,
    client_certificate: null,
    ca_certificates: null,
    tls_verify: null,
    tls_verify_depth: null,
    tags: null,
  },
  routes: {
    name: null,
    service: null,
    protocols: ["http", "https"],
    methods: null,
    hosts: null,
    paths: null,
    headers: null,
    snis: null,
    sources: null,
    destinations: null,
    https_redirect_status_code: 426,
    regex_priority: 0,
    strip_path: true,
    path_handling: "v0",
    preserve_host: false,
    request_buffering: true,
    response_buffering: true,
    tags: null,
  },
  plugins: {
    name: null,
    instance_name: null,
    enabled: true,
    protocols: ["grpc", "grpcs", "http", "https"],
    service: null,
    route: null,
    consumer: null,
    config: {},
    tags: null,
  },
  consumers: { username: null, custom_id: null, tags: null },
  "key-auths": { key: null, consumer: null, ttl: null, tags: null },
};

const changes = { headers: [], querystring: [], body: [] };
const phases = { certificate: [], rewrite: [], access: [], header_filter: [], body_filter: [], log: [] };

/** The same for the `config` of each plugin that `gateway/kong.yml` may name. */
export const pluginDefaults: Readonly<Record<string, Fields>> = {
  "correlation-id": { header_name: "Kong-Request-ID", generator: "uuid#counter", echo_downstream: false },
  cors: {
    origins: null,
    methods: ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT"],
    headers: null,
    exposed_headers: null,
    max_age: null,
    credentials: false,
    preflight_continue: false,
    private_network: false,
  },
  "key-auth": {
    key_names: ["apikey"],
    key_in_header: true,
    key_in_query: true,
    key_in_body: false,
    hide_credentials: false,
    anonymous: null,
    realm: null,
    run_on_preflight: true,
  },
  "post-function": phases,
  "pre-function": phases,
  prometheus: {
    status_code_metrics: false,
    latency_metrics: false,
    bandwidth_metrics: false,
    upstream_health_metrics: false,
    per_consumer: false,
    ai_metrics: false,
  },
  "rate-limiting": {
    second: null,
    minute: null,
    hour: null,
    day: null,
    month: null,
    year: null,
    limit_by: "consumer",
    header_name: null,
    path: null,
    policy: "local",
    fault_tolerant: true,
    hide_client_headers: false,
    error_code: 429,
    error_message: "API rate limit exceeded",
    sync_rate: -1,
    redis: {
      host: null,
      port: 6379,
      username: null,
      password: null,
      database: 0,
      timeout: 2000,
      ssl: false,
      ssl_verify: false,
      server_name: null,
    },
  },
  "request-size-limiting": {
    allowed_payload_size: 128,
    size_unit: "megabytes",
    require_content_length: false,
  },
  "request-termination": {
    status_code: 503,
    message: null,
    body: null,
    content_type: null,
    echo: false,
    trigger: null,
  },
  "request-transformer": {
    http_method: null,
    remove: changes,
    rename: changes,
    replace: { ...changes, uri: null },
    add: changes,
    append: changes,
  },
};
