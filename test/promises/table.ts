import { parseSeconds } from "../compose/read-compose.ts";
import type { Files } from "./read-files.ts";
import {
  type Container,
  findPods,
  listPods,
  listPrivileges,
  listReachable,
  type Manifest,
  type PodSpec,
  type Probe,
  readEnvironment,
} from "./read-manifests.ts";

/** What a file promises, how to read it, and what it should say. */
interface PromiseOfFile {
  file: string;
  promise: string;
  read: (files: Files) => unknown;
  expected: unknown;
}

/** Settings of gateway/kong.env, without KONG_. */
const kongEnv = (promise: string, expected: Record<string, string>): PromiseOfFile => ({
  file: "gateway/kong.env",
  promise,
  read: ({ kongEnv }) =>
    Object.fromEntries(Object.keys(expected).map((name) => [name, kongEnv[`KONG_${name}`]])),
  expected,
});

const pageCache = "pages levels=1:2 keys_zone=pages:8m max_size=5g min_free=2g inactive=12h";

const kong: PromiseOfFile[] = [
  kongEnv("has neither an admin API nor a database, and sends nothing to Kong's makers", {
    DATABASE: "off",
    DECLARATIVE_CONFIG: "/tmp/kong.yml",
    ADMIN_LISTEN: "off",
    ADMIN_GUI_LISTEN: "off",
    ANONYMOUS_REPORTS: "off",
    REQUEST_DEBUG: "off",
  }),
  kongEnv("loads only its own plugins", {
    PLUGINS: "cors,prometheus,single-audit",
    LUA_PACKAGE_PATH: "/opt/gateway/?.lua;;",
  }),
  kongEnv("logs no query string, referrer or header, which may contain a key", {
    LOG_LEVEL: "emerg",
    NGINX_PROXY_SET: "$logged_path -",
    NGINX_HTTP_LOG_FORMAT:
      "without_query '$remote_addr [$time_iso8601] \"$request_method $logged_path\" $status $body_bytes_sent $request_time $kong_request_id $sent_http_x_request_id'",
  }),
  kongEnv("tells clients and PostgREST no more than a request's ID", {
    HEADERS: "server_tokens,X-Kong-Request-Id",
    HEADERS_UPSTREAM: "off",
  }),
  kongEnv(
    "takes a client's address from the last proxy that is not trusted, and knows no second spelling of a header",
    {
      REAL_IP_HEADER: "X-Forwarded-For",
      REAL_IP_RECURSIVE: "on",
      NGINX_PROXY_UNDERSCORES_IN_HEADERS: "off",
    },
  ),
  kongEnv("ends clients that stall", {
    NGINX_HTTP_CLIENT_HEADER_TIMEOUT: "5s",
    NGINX_HTTP_CLIENT_BODY_TIMEOUT: "5s",
    NGINX_HTTP_LINGERING_TIME: "5s",
    NGINX_HTTP_KEEPALIVE_TIMEOUT: "75s",
    NGINX_HTTP_SEND_TIMEOUT: "75s",
    NGINX_PROXY_LUA_CHECK_CLIENT_ABORT: "on",
  }),
  kongEnv("accepts header lines of 32 KB and a body of 16 KB (docs/api.md, Errors)", {
    NGINX_HTTP_LARGE_CLIENT_HEADER_BUFFERS: "4 32k",
    NGINX_HTTP_CLIENT_MAX_BODY_SIZE: "16k",
  }),
  kongEnv("lets a network send 100 requests a second, and 1,000 at once; the plugin refuses the others", {
    NGINX_HTTP_LIMIT_REQ_ZONE: "$http_x_client_network zone=addresses:10m rate=100r/s",
    NGINX_PROXY_LIMIT_REQ: "zone=addresses burst=1000 nodelay",
    NGINX_PROXY_LIMIT_REQ_DRY_RUN: "on",
  }),
  kongEnv("has room for as many clients and connections as docs/operations.md says", {
    NGINX_WORKER_PROCESSES: "2",
    NGINX_EVENTS_WORKER_CONNECTIONS: "8192",
    NGINX_HTTP_LUA_SHARED_DICT: "single_audit_counts 512m",
  }),
  kongEnv("compresses every kind of response", {
    NGINX_PROXY_GZIP: "on",
    NGINX_PROXY_GZIP_TYPES:
      "application/json text/csv application/vnd.pgrst.object+json application/openapi+json",
    NGINX_PROXY_GZIP_PROXIED: "any",
    NGINX_PROXY_GZIP_VARY: "on",
  }),
  kongEnv("takes the longest headers and the largest response from PostgREST", {
    NGINX_PROXY_PROXY_BUFFER_SIZE: "160k",
    NGINX_PROXY_PROXY_BUFFERS: "8 160k",
    NGINX_PROXY_PROXY_MAX_TEMP_FILE_SIZE: "256m",
  }),
  kongEnv(
    "keeps pages on a bounded part of the disk, and asks PostgREST each time whether they are current",
    {
      NGINX_HTTP_PROXY_CACHE_PATH: pageCache,
      NGINX_LOCATION_SET: "$cache_zone off; set $cache_key ''",
      NGINX_PROXY_PROXY_CACHE: "$cache_zone",
      NGINX_PROXY_PROXY_CACHE_KEY: "$cache_key$upstream_uri",
      NGINX_PROXY_PROXY_CACHE_REVALIDATE: "on",
      NGINX_PROXY_PROXY_CACHE_LOCK: "on",
    },
  ),
  kongEnv("repeats a read on another PostgREST only within a second", {
    NGINX_PROXY_PROXY_NEXT_UPSTREAM: "error timeout http_503 http_504",
    NGINX_PROXY_PROXY_NEXT_UPSTREAM_TIMEOUT: "1s",
    UPSTREAM_KEEPALIVE_IDLE_TIMEOUT: "10",
  }),
  kongEnv("lets clients finish reading 57 MB at 500 KB/s when it stops", {
    NGINX_MAIN_WORKER_SHUTDOWN_TIMEOUT: "120s",
  }),
  {
    file: "gateway/kong.yml",
    promise: "waits longer than PostgreSQL lets a query run, and tries up to three instances of PostgREST",
    read: ({ kongYml: { services } }) =>
      services.map(({ connect_timeout, retries, read_timeout, write_timeout }) => ({
        connect_timeout,
        retries,
        read_timeout,
        write_timeout,
      })),
    expected: [{ connect_timeout: 300, retries: 2, read_timeout: 65_000, write_timeout: 65_000 }],
  },
  {
    file: "gateway/kong.yml",
    promise: "reads its secrets from its environment, where start.sh puts them",
    read: ({ kongYml: { plugins } }) =>
      plugins.flatMap(({ config }) => {
        const { redis, gateway_token } = config as { redis?: { password: string }; gateway_token?: string };
        return gateway_token === undefined ? [] : [redis?.password, gateway_token];
      }),
    expected: ["{vault://env/redis-password}", "{vault://env/gateway-token}"],
  },
  {
    file: "gateway/kong.yml",
    promise: "lets scripts on pages of any site send requests, and read the headers of responses",
    read: ({ kongYml: { plugins } }) => {
      const { exposed_headers, ...rest } = plugins.find(({ name }) => name === "cors")?.config ?? {};
      return [rest, (exposed_headers as string[]).join(" ")];
    },
    expected: [
      { origins: ["*"], methods: ["GET", "HEAD", "POST", "OPTIONS"], max_age: 3600 },
      "content-profile content-range data-set deprecation etag link preference-applied proxy-status ratelimit-limit ratelimit-remaining ratelimit-reset retry-after sunset x-ratelimit-limit x-ratelimit-limit-day x-ratelimit-limit-hour x-ratelimit-remaining x-ratelimit-remaining-day x-ratelimit-remaining-hour x-request-id",
    ],
  },
  {
    file: "gateway/kong.yml",
    promise: "measures statuses and times for the alerts",
    read: ({ kongYml: { plugins } }) => plugins.find(({ name }) => name === "prometheus")?.config,
    expected: { status_code_metrics: true, latency_metrics: true },
  },
];

const postgrest: PromiseOfFile[] = [
  {
    file: "scripts/stack/postgrest.env",
    promise: "lets a replica that comes back have its share of the connections within a minute",
    read: ({ postgrestEnv }) => postgrestEnv.PGRST_DB_POOL_MAX_LIFETIME,
    expected: "60",
  },
];

type Service = Files["compose"]["services"][string];

/** What each service of docker-compose.yml has, without those that have nothing. */
const services = (
  promise: string,
  read: (service: Service) => unknown,
  expected: Record<string, unknown>,
) => ({
  file: "docker-compose.yml",
  promise,
  read: ({ compose }: Files) =>
    Object.fromEntries(
      Object.entries(compose.services).flatMap(([name, service]) => {
        const value = read(service);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  expected,
});

/** A variable of docker-compose.yml, and what it is if .env does not set it. */
const variable = (name: string, otherwise: string | number) => `${"$"}{${name}:-${otherwise}}`;
const onLoopback = (port: string) => `${variable("PUBLISH_ADDRESS", "127.0.0.1")}:${port}`;

/** What docker-compose.yml and Kubernetes add to kong.env. */
const gatewayEnvironment = {
  USAGE_URL: "http://report-service:9100/used-keys",
  REDIS_HOST: "counters",
  KONG_PROXY_LISTEN: "0.0.0.0:8000 reuseport backlog=16384",
  KONG_STATUS_LISTEN: "0.0.0.0:8100",
  KONG_PROXY_ACCESS_LOG: "/dev/stdout without_query",
  KONG_PROXY_ERROR_LOG: "/dev/stderr",
  KONG_STATUS_ERROR_LOG: "/dev/stderr",
  KONG_DNS_VALID_TTL: "1",
  KONG_DNS_NOT_FOUND_TTL: "1",
  KONG_NGINX_HTTP_PROXY_TEMP_PATH: "/var/tmp/answers",
  KONG_NGINX_HTTP_PROXY_CACHE_PATH: `/var/tmp/${pageCache}`,
};
/** The variables that hold a secret instead of naming its file. */
function listSecrets(environment: Record<string, string> = {}): string[] | undefined {
  const found = Object.entries(environment).filter(
    ([name, value]) =>
      /:\/\/[^/]*:[^/]*@/.test(value) ||
      (/PASSWORD|SECRET(?!S_)|TOKEN|KEY|DB_URI|DATABASE_URL/.test(name) &&
        !/^(@?\/run\/secrets\/(single-audit\/)?\w+$|postgres:\/\/\w+@)/.test(value)),
  );
  return found.length === 0 ? undefined : found.map(([name]) => name);
}

/** The files of secrets that a service's environment names, and that it does not mount. */
function listMissingSecrets({ environment = {}, secrets = [] }: Service): string[] | undefined {
  const named = Object.values(environment).flatMap(
    (value) => /\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? [],
  );
  const missing = named.filter((name) => !secrets.includes(name));
  return missing.length === 0 ? undefined : missing;
}

const readStop = ({ stop_grace_period, stop_signal }: Service) => {
  const found = [stop_grace_period, stop_signal].filter((it) => it !== undefined);
  return found.length === 0 ? undefined : found;
};
const readStage = ({ environment }: Service) => environment?.ENVIRONMENT;
const readInitdb = ({ environment }: Service) => environment?.POSTGRES_INITDB_ARGS;

const countersCommand = (secrets: string) => [
  ...["valkey-server", `${secrets}/counters_config`],
  ...["--save", "", "--appendonly", "no", "--maxmemory", "384mb", "--maxmemory-policy", "volatile-lru"],
];

const fetchReady = (port: number) =>
  `fetch('http://127.0.0.1:${port}/readyz').then((it) => process.exit(it.ok ? 0 : 1))`;

/** What a container may do beyond the least that Docker can give it. */
function listRights(service: object): string[] | undefined {
  const least: Record<string, unknown> = {
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
  };
  const more = ["cap_add", "privileged", "network_mode", "pid", "ipc", "userns_mode", "devices", "group_add"];
  const settings: Record<string, unknown> = { ...service };
  const found = [...Object.keys(least), ...more].filter(
    (name) => JSON.stringify(settings[name]) !== JSON.stringify(least[name]),
  );
  return found.length === 0 ? undefined : found.map((name) => `${name}: ${String(settings[name])}`);
}

const compose: PromiseOfFile[] = [
  services("publishes ports on the loopback interface only, except for TLS", ({ ports }) => ports, {
    gateway: [onLoopback(`${variable("GATEWAY_PORT", 8000)}:8000`)],
    "report-service": [onLoopback(`${variable("APP_PORT", 8001)}:8001`)],
    grafana: [onLoopback(`${variable("GRAFANA_PORT", 3000)}:3000`)],
    tls: ["80:80", "443:443"],
  }),
  services("connects services only to those that they talk to", ({ networks }) => networks, {
    postgres: ["database"],
    migrate: ["database"],
    postgrest: ["database", "gateway"],
    gateway: ["edge", "gateway", "key-use"],
    counters: ["gateway"],
    "report-service": ["downloads", "database", "storage", "key-use"],
    refresher: ["downloads", "database", "storage"],
    keys: ["database"],
    agreements: ["database"],
    publish: ["downloads", "database", "storage"],
    storage: ["storage"],
    "storage-reader": ["storage"],
    prometheus: ["gateway", "database", "monitoring"],
    grafana: ["edge", "monitoring"],
    tls: ["edge", "downloads"],
  }),
  {
    file: "docker-compose.yml",
    promise: "lets only the networks of published ports and of source files reach the outside",
    read: ({ compose }) =>
      Object.entries(compose.networks).flatMap(([name, { internal }]) => (internal ? [] : [name])),
    expected: ["edge", "downloads"],
  },
  services("gives each service only the secrets that it needs", ({ secrets }) => secrets, {
    postgres: ["postgres_password"],
    migrate: ["postgres_password", "authenticator_password", "report_service_password", "publisher_password"],
    postgrest: ["postgrest_db_uri", "jwt_secret"],
    gateway: ["gateway_token", "counters_password"],
    counters: ["counters_config"],
    "report-service": ["report_service_password", "storage_reader_access_key", "storage_reader_secret_key"],
    refresher: ["publisher_password", "storage_access_key", "storage_secret_key"],
    keys: ["postgres_password"],
    agreements: ["postgres_password"],
    publish: ["publisher_password", "storage_access_key", "storage_secret_key"],
    storage: ["storage_access_key", "storage_secret_key"],
    "storage-reader": ["storage_reader_access_key", "storage_reader_secret_key"],
    grafana: ["grafana_password"],
  }),
  services(
    "keeps data in named volumes, and lets the reader of the storage write nothing",
    (it) => it.volumes,
    {
      postgres: ["postgres:/var/lib/postgresql"],
      gateway: ["answers:/var/tmp"],
      refresher: ["ledger:/ledger"],
      publish: ["ledger:/ledger"],
      storage: ["storage:/data"],
      "storage-reader": ["storage:/data:ro"],
      prometheus: ["prometheus:/prometheus"],
      grafana: ["grafana:/var/lib/grafana"],
      tls: ["certificates:/certificates"],
    },
  ),
  services("has no more rights than the TLS proxy needs", listRights, { tls: ["cap_add: NET_BIND_SERVICE"] }),
  services("runs as a user other than root; the project's image runs as node", ({ user }) => user, {
    postgres: "999:999",
    postgrest: "1000:1000",
    gateway: "kong",
    counters: "999:1000",
    storage: "1000:1000",
    "storage-reader": "1000:1000",
    prometheus: "65534:65534",
    grafana: "472:472",
    tls: "1000:1000",
  }),
  { file: "Dockerfile", promise: "runs as node", read: ({ users }) => users, expected: ["node"] },
  services("shows no secret in docker inspect", ({ environment }) => listSecrets(environment), {}),
  services("reads only secrets that it mounts", listMissingSecrets, {}),
  services("connects to PostgreSQL with the least rights", ({ environment }) => environment?.PGUSER, {
    migrate: "postgres",
    keys: "postgres",
    agreements: "postgres",
    "report-service": "report_service",
    refresher: "publisher",
    publish: "publisher",
  }),
  services("lets every program know the environment: production promises what it deploys", readStage, {
    migrate: variable("ENVIRONMENT", "development"),
    "report-service": variable("ENVIRONMENT", "development"),
    refresher: variable("ENVIRONMENT", "development"),
    publish: variable("ENVIRONMENT", "development"),
  }),
  services("detects damaged pages, and sorts text alike everywhere", readInitdb, {
    postgres:
      "--encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8 --data-checksums",
  }),
  services("trusts no proxy unless .env names it", ({ environment }) => environment?.TRUSTED_IPS, {
    "report-service": variable("TRUSTED_IPS", ""),
  }),
  services("reads the settings that every environment shares", ({ env_file }) => env_file, {
    gateway: [{ path: "./gateway/kong.env", format: "raw" }],
    postgrest: ["scripts/stack/postgrest.env"],
  }),
  services("starts monitoring, TLS and tools only if they are asked for", ({ profiles }) => profiles, {
    keys: ["tools"],
    agreements: ["tools"],
    publish: ["tools"],
    prometheus: ["monitoring"],
    grafana: ["monitoring"],
    tls: ["tls"],
  }),
  services(
    "asks each service whether it is ready",
    ({ healthcheck }) => healthcheck?.test?.slice(1).join(" "),
    {
      postgres: "pg_isready --quiet --host=127.0.0.1 --username=postgres --dbname=single_audit",
      postgrest: "/health/wget -q -Y off -O /dev/null http://127.0.0.1:3001/ready",
      gateway: "kong health",
      counters: "valkey-cli ping 2>&1 | grep -qE 'PONG|NOAUTH'",
      "report-service": `node -e ${fetchReady(8001)}`,
      refresher: `node -e ${fetchReady(8007)}`,
      storage: "wget -q -Y off -O /dev/null http://127.0.0.1:7070/_health",
      "storage-reader": "wget -q -Y off -O /dev/null http://127.0.0.1:7070/_health",
      prometheus: "wget -q -Y off -O /dev/null http://127.0.0.1:9090/-/ready",
      grafana: "wget -q -Y off -O /dev/null http://127.0.0.1:3000/api/health",
      tls: "wget -q -Y off -O /dev/null http://127.0.0.1:2019/config/",
    },
  ),
  services(
    "keeps Kong's token in memory",
    ({ tmpfs }) => tmpfs?.find((it) => it.startsWith("/var/run/kong")),
    {
      gateway: "/var/run/kong:mode=1777,size=64m",
    },
  ),
  services("lets PostgREST forget within a second a host that is gone", ({ dns_opt }) => dns_opt, {
    postgrest: ["timeout:1"],
  }),
  {
    file: "docker-compose.yml",
    promise: "gives Kong as many requests at a time as PostgREST has connections, also on a small host",
    read: ({ compose: { services }, small }) =>
      [services, small].map(({ gateway, postgrest }) => [
        // start.sh has the default.
        gateway?.environment?.POSTGREST_POOL ?? "6",
        postgrest?.environment?.PGRST_DB_POOL,
      ]),
    expected: [
      ["6", "6"],
      ["2", "2"],
    ],
  },
  {
    file: "docker-compose.yml",
    promise: "sends nothing to Grafana's makers",
    read: ({ compose: { services } }) =>
      Object.entries(services.grafana?.environment ?? {}).filter(([name]) => /^GF_(?!.*PASSWORD)/.test(name)),
    expected: [
      ["GF_ANALYTICS_REPORTING_ENABLED", "false"],
      ["GF_ANALYTICS_CHECK_FOR_UPDATES", "false"],
      ["GF_PLUGINS_PREINSTALL_DISABLED", "true"],
    ],
  },
  {
    file: "docker-compose.yml",
    promise: "tells Kong addresses and what it logs, and trusts no proxy unless .env names it",
    read: ({ compose: { services } }) => services.gateway?.environment,
    expected: {
      ...gatewayEnvironment,
      POSTGREST_URL: "http://postgrest:3000",
      // Only addresses, so that an absent container costs one question.
      KONG_DNS_ORDER: "A",
      SECRETS_DIRECTORY: "/run/secrets",
      KONG_PREFIX: "/var/run/kong",
      KONG_TRUSTED_IPS: variable("TRUSTED_IPS", ""),
    },
  },
  {
    file: "docker-compose.yml",
    promise: "overrides only the directory of gateway/kong.env that is not on a disk",
    read: ({ compose: { services }, kongEnv }) =>
      Object.keys(services.gateway?.environment ?? {}).filter((name) => name in kongEnv),
    expected: ["KONG_NGINX_HTTP_PROXY_CACHE_PATH"],
  },
  {
    file: "docker-compose.yml",
    promise:
      "keeps the counters in memory, with room for a million keys, and drops the least recently used first",
    read: ({ compose: { services } }) => services.counters?.command,
    expected: countersCommand("/run/secrets"),
  },
  services("lets PostgreSQL and Kong finish when it stops them", readStop, {
    postgres: ["1m"],
    gateway: ["130s", "SIGQUIT"],
  }),
  {
    file: "docker-compose.yml",
    promise: "gives Kong 10 s to close its connections after the last client had its time",
    read: ({ compose, kongEnv }) =>
      parseSeconds(compose.services.gateway?.stop_grace_period) -
      parseSeconds(kongEnv.KONG_NGINX_MAIN_WORKER_SHUTDOWN_TIMEOUT),
    expected: 10,
  },
];

const overlays = ["kind", "production"] as const;

/** What the objects of the rendered overlays mean. */
const kubernetesRow = (
  promise: string,
  read: (manifests: Manifest[], files: Files) => unknown,
  expected: unknown,
  only: readonly (typeof overlays)[number][] = overlays,
): PromiseOfFile[] =>
  only.map((overlay) => ({
    file: `deploy/kubernetes/overlays/${overlay}`,
    promise,
    read: (files) => read(files[overlay], files),
    expected,
  }));

/** What each pod has, without those that have nothing. */
const ofPods = (manifests: Manifest[], read: (pod: PodSpec) => unknown) =>
  Object.fromEntries(
    listPods(manifests).flatMap(({ name, spec }) => {
      const value = read(spec);
      return value === undefined ? [] : [[name, value]];
    }),
  );

const ofKind = (
  manifests: Manifest[],
  kind: string,
  read: (spec: NonNullable<Manifest["spec"]>) => unknown,
) =>
  Object.fromEntries(
    manifests.filter((each) => each.kind === kind).map(({ metadata, spec }) => [metadata.name, read(spec)]),
  );

const onBusyCpu = [
  { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
];

const readSettings = (manifests: Manifest[]) =>
  manifests.find(({ metadata }) => metadata.name.startsWith("settings-"))?.data;

/** A probe's port and path. */
const describeProbe = ({ httpGet, tcpSocket }: Probe, ports: Container["ports"] = []) => {
  const { port, path = "" } = { ...httpGet, ...tcpSocket };
  return `${ports.find(({ name }) => name === port)?.containerPort}${path}`;
};

const names = ["namespaces kubernetes.io/metadata.name=kube-system", "169.254.20.10/32"].flatMap((peer) => [
  `${peer}, TCP 53`,
  `${peer}, UDP 53`,
]);
/** Not at private, shared, link-local and NAT64 addresses, where the cluster and its cloud have theirs. */
const internet = [
  "0.0.0.0/0 except 10.0.0.0/8 except 100.64.0.0/10 except 169.254.0.0/16 except 172.16.0.0/12 except 192.168.0.0/16, TCP 443",
  "::/0 except 64:ff9b::/96 except 64:ff9b:1::/48 except fc00::/7 except fe80::/10, TCP 443",
];
const kubernetesApi = (peers: string[]) => peers.flatMap((peer) => [`${peer}, TCP 443`, `${peer}, TCP 6443`]);
const bundledStorage = ["storage:7070", "storage-reader:7070"];

/** Who reaches what. `storage` are the addresses of the bucket, and `api` those of the Kubernetes API. */
const reachable = (storage: string[], api: string[]) => ({
  "namespaces single-audit/front=true": ["gateway:8000", "report-service:8001", "site:8001"],
  "namespaces kubernetes.io/metadata.name=monitoring": [
    "gateway:8100",
    "postgres:9187",
    "postgrest-reader:3001",
    "postgrest-writer:3001",
    "refresher:8007",
    "report-service:9100",
    "site:9100",
  ],
  "namespaces kubernetes.io/metadata.name=cnpg-system": ["postgres:8000"],
  gateway: [
    ...names,
    "counters:6379",
    "postgrest-reader:3000",
    "postgrest-writer:3000",
    "report-service:9100",
  ],
  counters: names,
  "postgrest-reader": [...names, "postgres:5432"],
  "postgrest-writer": [...names, "postgres:5432"],
  "deploy-database": [...names, "postgres:5432"],
  "report-service": [...names, ...storage, "postgres:5432"],
  site: [...names, ...storage, "postgres:5432"],
  refresher: [...names, ...storage, "postgres:5432"],
  postgres: [...names, ...storage, ...kubernetesApi(api), "postgres:5432", "postgres:8000"],
});
const sortEach = (lists: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.toSorted()]));

const kubernetes: PromiseOfFile[] = [
  ...kubernetesRow(
    "lets pods reach only those that they talk to, and only the front and Prometheus reach them",
    listReachable,
    sortEach(reachable(internet, ["10.96.0.1/32", "10.20.0.0/28"])),
    ["production"],
  ),
  ...kubernetesRow(
    "lets pods reach only those that they talk to, and only the front and Prometheus reach them",
    listReachable,
    sortEach({
      ...reachable([...internet, ...bundledStorage], ["anywhere"]),
      storage: names,
      "storage-reader": names,
    }),
    ["kind"],
  ),
  ...kubernetesRow(
    "allows pods nothing that no other policy allows",
    (manifests) => ofKind(manifests, "NetworkPolicy", (spec) => spec)["default-deny"],
    { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
  ),
  ...kubernetesRow(
    "gives each workload an account of its own",
    (manifests) =>
      listPods(manifests).flatMap(({ name, spec }) => (spec.serviceAccountName === name ? [] : [name])),
    [],
  ),
  ...kubernetesRow("gives no container more than the restricted Pod Security Standard", listPrivileges, []),
  ...kubernetesRow(
    "refuses pods beyond that standard",
    (manifests) => manifests.find(({ kind }) => kind === "Namespace")?.metadata.labels,
    {
      "app.kubernetes.io/part-of": "single-audit",
      "pod-security.kubernetes.io/enforce": "restricted",
      "pod-security.kubernetes.io/warn": "restricted",
    },
  ),
  ...kubernetesRow(
    "publishes no port outside the cluster, and each Service leads to its own pods",
    (manifests) =>
      ofKind(manifests, "Service", ({ type = "ClusterIP", clusterIP = "", selector, ports }) => [
        [type, clusterIP].join(" ").trim(),
        ...findPods(manifests, { matchLabels: selector }).flatMap((pod) =>
          ports.map(({ port }: { port: number }) => `${pod}:${port}`),
        ),
      ]),
    {
      counters: ["ClusterIP", "counters:6379"],
      gateway: ["ClusterIP", "gateway:8000"],
      "postgrest-reader": ["ClusterIP None", "postgrest-reader:3000"],
      "postgrest-writer": ["ClusterIP None", "postgrest-writer:3000"],
      "report-service": ["ClusterIP", "report-service:8001", "report-service:9100"],
      site: ["ClusterIP", "site:8001"],
    },
    ["production"],
  ),
  ...kubernetesRow(
    "mounts the files of the bundled storage's reader, and Kong's rules, read-only",
    (manifests) =>
      ofPods(manifests, ({ containers }) => {
        const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
        return mounts.find(({ readOnly }) => readOnly)?.mountPath;
      }),
    { gateway: "/opt/gateway/kong", "storage-reader": "/data" },
    ["kind"],
  ),
  ...kubernetesRow(
    "mounts secrets as files that only the pod's group may read",
    (manifests) =>
      ofPods(manifests, ({ volumes = [] }) =>
        volumes.flatMap(({ secret }) =>
          secret === undefined ? [] : [[secret.secretName, secret.defaultMode?.toString(8)]],
        ),
      ),
    {
      counters: [["counters", "440"]],
      "deploy-database": [
        ["postgres-ca", undefined],
        ["deploy-database", "440"],
      ],
      gateway: [["gateway", "440"]],
      "postgrest-reader": [
        ["postgrest-reader", "440"],
        ["postgres-ca", undefined],
      ],
      "postgrest-writer": [
        ["postgrest-writer", "440"],
        ["postgres-ca", undefined],
      ],
      refresher: [
        ["postgres-ca", undefined],
        ["refresher", "440"],
      ],
      "report-service": [
        ["report-service", "440"],
        ["postgres-ca", undefined],
      ],
      site: [
        ["site", "440"],
        ["postgres-ca", undefined],
      ],
    },
    ["production"],
  ),
  ...kubernetesRow(
    "shows no secret in a pod's environment",
    (manifests) => ofPods(manifests, (pod) => listSecrets(readEnvironment(pod))),
    {},
  ),
  ...kubernetesRow(
    "limits the memory of each container",
    (manifests) =>
      listPods(manifests).flatMap(({ name, spec }) =>
        [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
          resources?.limits?.memory === undefined ? [name] : [],
        ),
      ),
    [],
  ),
  ...kubernetesRow(
    "gives Kong the settings of kong.env",
    (manifests, { kongEnv }) => {
      const settings = manifests.find(({ metadata }) => metadata.name.startsWith("gateway-settings"))?.data;
      return Object.keys({ ...settings, ...kongEnv }).filter((name) => settings?.[name] !== kongEnv[name]);
    },
    [],
  ),
  ...kubernetesRow(
    "tells Kong what docker-compose.yml tells it, and sends reads to the replicas",
    (manifests) => ofPods(manifests, (pod) => readEnvironment(pod)).gateway,
    {
      ...gatewayEnvironment,
      POSTGREST_URL: "http://postgrest-reader:3000",
      POSTGREST_WRITER_URL: "http://postgrest-writer:3000",
      SECRETS_DIRECTORY: "/run/secrets/single-audit",
      KONG_PREFIX: "/run/kong",
      KONG_TRUSTED_IPS: "configMapKeyRef TRUSTED_IPS",
    },
  ),
  ...kubernetesRow(
    "keeps the counters in memory, with room for a million keys, and drops the least recently used first",
    (manifests) => ofPods(manifests, ({ containers }) => containers[0]?.args).counters,
    countersCommand("/run/secrets/single-audit"),
  ),
  ...kubernetesRow(
    "connects to PostgreSQL with the least rights, and only over TLS with a known certificate",
    (manifests) =>
      ofPods(manifests, (pod) =>
        Object.values(readEnvironment(pod)).find((value) => /^postgres:/.test(value)),
      ),
    Object.fromEntries(
      [
        ["deploy-database", "single_audit_owner"],
        ["refresher", "publisher"],
        ["report-service", "report_service"],
        ["site", "site"],
      ].map(([pod, role]) => [
        pod,
        // node-postgres reads sslrootcert again for each connection.
        `postgres://${role}@postgres-rw/single_audit?sslmode=verify-full&sslrootcert=/etc/postgres-ca/ca.crt`,
      ]),
    ),
  ),
  ...(["production", "development"] as const).flatMap((environment) =>
    kubernetesRow(
      "lets deployments know the environment: production promises what it deploys",
      (manifests) => [
        ofPods(manifests, (pod) => readEnvironment(pod).ENVIRONMENT),
        readSettings(manifests)?.ENVIRONMENT,
      ],
      [{ "deploy-database": "configMapKeyRef ENVIRONMENT" }, environment],
      [environment === "production" ? "production" : "kind"],
    ),
  ),
  ...kubernetesRow(
    "runs a deployment once, and ends it after half an hour",
    (manifests) =>
      ofKind(manifests, "Job", ({ backoffLimit, activeDeadlineSeconds, template }) => [
        backoffLimit,
        activeDeadlineSeconds,
        template.spec.restartPolicy,
      ]),
    { "deploy-database": [0, 1800, "Never"] },
  ),
  ...kubernetesRow(
    "keeps pods behind a Service ready while PostgreSQL or the bucket is away, so that clients get 503",
    (manifests) =>
      ofPods(manifests, ({ containers: [container] }) =>
        [container?.startupProbe, container?.readinessProbe, container?.livenessProbe].map(
          (probe) => probe && describeProbe(probe, container?.ports),
        ),
      ),
    {
      counters: [undefined, "6379", "6379"],
      "deploy-database": [undefined, undefined, undefined],
      gateway: ["8100/status/ready", "8100/status/ready", "8100/status"],
      "postgrest-reader": ["3001/ready", "3001/live", "3001/live"],
      "postgrest-writer": ["3001/ready", "3001/live", "3001/live"],
      refresher: ["8007/healthz", "8007/readyz", "8007/healthz"],
      "report-service": ["8001/readyz", "8001/healthz", "8001/healthz"],
      site: ["8001/readyz", "8001/healthz", "8001/healthz"],
    },
    ["production"],
  ),
  ...kubernetesRow(
    "takes a pod out of its Service before it stops: for how long, and when it is killed",
    (manifests) =>
      ofPods(manifests, ({ containers: [container], terminationGracePeriodSeconds = 30 }) => {
        const seconds = container?.lifecycle?.preStop.sleep.seconds;
        return seconds === undefined ? undefined : [seconds, terminationGracePeriodSeconds];
      }),
    {
      // Kong's clients have 120 s after that (gateway/kong.env).
      gateway: [10, 140],
      "postgrest-reader": [20, 60],
      "postgrest-writer": [20, 60],
      "report-service": [10, 30],
      site: [10, 30],
    },
  ),
  ...kubernetesRow(
    "evicts pods that answer requests one at a time",
    (manifests) =>
      ofKind(manifests, "PodDisruptionBudget", ({ maxUnavailable, selector }) => [
        maxUnavailable,
        ...findPods(manifests, selector),
      ]),
    {
      gateway: [1, "gateway"],
      "postgrest-reader": [1, "postgrest-reader"],
      "postgrest-writer": [1, "postgrest-writer"],
      "report-service": [1, "report-service"],
      site: [1, "site"],
    },
  ),
  ...kubernetesRow(
    "keeps Kong's token in memory, and limits what slow clients leave on the disk",
    (manifests) =>
      ofPods(manifests, ({ volumes = [] }) =>
        volumes.filter(({ emptyDir }) => Object.keys(emptyDir ?? {}).length > 0),
      ).gateway,
    [
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
      { name: "prefix", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
      { name: "answers", emptyDir: { sizeLimit: "25Gi" } },
    ],
  ),
  ...kubernetesRow(
    "confirms a commit on a replica, promotes none that may lack it, and fails over within seconds",
    (manifests) =>
      ofKind(
        manifests,
        "Cluster",
        ({ instances, postgresql, primaryLease, replicationSlots, smartShutdownTimeout, stopDelay }) => ({
          ...{ instances, synchronous: postgresql.synchronous, primaryLease, replicationSlots },
          ...{ smartShutdownTimeout, stopDelay },
        }),
      ),
    {
      postgres: {
        instances: 3,
        synchronous: { method: "any", number: 1, dataDurability: "required", failoverQuorum: true },
        primaryLease: { leaseDurationSeconds: 5, renewDeadlineSeconds: 3, retryPeriodSeconds: 1 },
        replicationSlots: { highAvailability: { enabled: false } },
        smartShutdownTimeout: 1,
        stopDelay: 60,
      },
    },
  ),
  ...kubernetesRow(
    "detects damaged pages, sorts text alike everywhere, and gives the owner no more than it needs",
    (manifests) => ofKind(manifests, "Cluster", ({ bootstrap }) => bootstrap),
    {
      postgres: {
        initdb: {
          database: "single_audit",
          owner: "single_audit_owner",
          secret: { name: "postgres-owner" },
          encoding: "UTF8",
          localeProvider: "builtin",
          builtinLocale: "C.UTF-8",
          localeCType: "C.UTF-8",
          localeCollate: "C.UTF-8",
          dataChecksums: true,
          postInitSQL: [
            "alter role single_audit_owner createrole",
            "grant pg_read_all_stats to single_audit_owner",
            "grant set on parameter temp_file_limit to single_audit_owner",
          ],
        },
      },
    },
  ),
  ...kubernetesRow(
    "runs each instance of PostgreSQL on a node of its own",
    (manifests) => ofKind(manifests, "Cluster", ({ affinity }) => affinity),
    {
      postgres: {
        enablePodAntiAffinity: true,
        podAntiAffinityType: "required",
        topologyKey: "kubernetes.io/hostname",
      },
    },
    ["production"],
  ),
  ...kubernetesRow(
    "gives readers more connections than the gateways use, so that none waits if Kong chooses a reader too often",
    (manifests) => ofPods(manifests, (pod) => readEnvironment(pod).PGRST_DB_POOL),
    { "postgrest-reader": "9", "postgrest-writer": "2" },
  ),
  ...kubernetesRow(
    "trusts no proxy until somebody names them",
    (manifests) => readSettings(manifests)?.TRUSTED_IPS,
    undefined,
    ["production"],
  ),
  ...kubernetesRow(
    "logs no parameters of statements, and cancels a replica's queries after 500 ms",
    (manifests) =>
      ofKind(manifests, "Cluster", ({ postgresql: { parameters } }) => {
        const { shared_buffers, effective_cache_size, max_wal_size, ...promised } = parameters;
        return promised;
      }),
    {
      postgres: {
        jit: "off",
        "single_audit.server_name": "postgres",
        log_parameter_max_length: "0",
        log_parameter_max_length_on_error: "0",
        log_min_messages: "log",
        max_standby_streaming_delay: "500ms",
        hot_standby_feedback: "on",
        max_slot_wal_keep_size: "8GB",
      },
    },
  ),
  ...kubernetesRow(
    "archives WAL, takes a backup each night, and keeps backups for 30 days",
    (manifests) => [
      ofKind(manifests, "Cluster", ({ plugins }) => plugins),
      ofKind(manifests, "ScheduledBackup", ({ schedule, immediate, target, method }) => [
        schedule,
        immediate,
        target,
        method,
      ]),
      ofKind(manifests, "ObjectStore", ({ retentionPolicy }) => retentionPolicy),
    ],
    [
      {
        postgres: [
          {
            name: "barman-cloud.cloudnative-pg.io",
            isWALArchiver: true,
            parameters: { barmanObjectName: "backups", serverName: "postgres" },
          },
        ],
      },
      { nightly: ["0 30 6 * * *", true, "prefer-standby", "plugin"] },
      { backups: "30d" },
    ],
  ),
  ...kubernetesRow(
    "runs two pods of everything but the counters",
    (manifests) =>
      ofKind(manifests, "Deployment", ({ replicas, strategy }) => [
        replicas,
        strategy?.rollingUpdate ?? strategy?.type,
      ]),
    {
      counters: [1, undefined],
      gateway: [undefined, { maxSurge: 1, maxUnavailable: 0 }],
      "postgrest-reader": [undefined, { maxSurge: 1, maxUnavailable: 0 }],
      "postgrest-writer": [2, { maxSurge: 1, maxUnavailable: 0 }],
      refresher: [2, { maxSurge: 0, maxUnavailable: 1 }],
      "report-service": [2, { maxSurge: 1, maxUnavailable: 0 }],
      site: [2, { maxSurge: 1, maxUnavailable: 0 }],
    },
    ["production"],
  ),
  ...kubernetesRow(
    "adds gateways and readers under load: three gateways let 15 requests pass, for which two readers have connections and each replica memory",
    (manifests) =>
      ofKind(
        manifests,
        "HorizontalPodAutoscaler",
        ({ scaleTargetRef, minReplicas, maxReplicas, metrics }) => [
          `${scaleTargetRef.kind} ${scaleTargetRef.name}`,
          minReplicas,
          maxReplicas,
          metrics,
        ],
      ),
    {
      gateway: ["Deployment gateway", 2, 3, onBusyCpu],
      "postgrest-reader": ["Deployment postgrest-reader", 2, 3, onBusyCpu],
    },
    ["production"],
  ),
];

/** Each alert: its severity, how long its condition must hold, and what the condition compares. */
const alerts = {
  ServiceDown: "critical 2m postgrest|report-service|site|refresher == 0",
  ServerErrors: "critical 5m 5.. 5m 5m > 0.01 5m > 0.1",
  ResponsesSlow: "warning 10m 0.95 postgrest.* 10m > 5000",
  RateLimited: "warning 15m 429 15m 15m > 0.3 15m > 0.1",
  GatewayDown: "critical 1m gateway == 0",
  NoDataSet: "critical 5m == 0",
  DataSetTooOld: "warning 1h > <",
  RefreshFailing: "warning 15m failed 2h > 0 published|skipped 2h > 0",
  RefreshStuck: "warning 6h == 1",
  LeakFound: "critical 1m > 0",
  LeakCheckFailing: "warning 15m > 3 3600",
  RefresherDatabaseUnavailable: "warning 5m == 0",
  StorageUnavailable: "critical 2m storage == 0",
  ReportServiceDatabaseUnavailable: "critical 2m database == 0",
  StorageSlow: "warning 10m 0.95 10m > 1",
  RedemptionsFailing: "critical 5m storage_unavailable|database_unavailable|failed 10m > 0",
  ReportFileMissing: "warning 0m file_missing 1h > 0",
  TokensGuessed: "warning 10m refused 10m > 1",
  ReportServiceErrors: "warning 5m 5.. != /readyz 5m != /readyz 5m > 0.05",
  PrimaryMissing: "critical 2m 1h == 0",
  InstanceMissing: "warning 5m == 1 < 3",
  ArchiveFailing: "critical 15m >",
  DatabaseConnectionsNearLimit: "warning 5m > 0.8 max_connections > 0.8",
  ReplicaLagging: "warning 5m > 60 > 60 == 1 == 1",
  DiskFilling: "warning 1h tmpfs|overlay|squashfs|ramfs 6h 86400 < 0 < 0.3 single-audit 6h 86400 < 0 < 0.3",
  DiskAlmostFull: "critical 5m tmpfs|overlay|squashfs|ramfs < 0.1 single-audit < 0.1",
  CountersFilling: "warning 5m > 0.8",
  ClockSkewed: "warning 10m > 1 == 0",
  CertificateExpiring: "warning 1h < 14 86400",
};

const monitoring: PromiseOfFile[] = [
  ...Object.entries(alerts).map(([alert, expected]) => ({
    file: "deploy/monitoring/prometheus-rules.yml",
    promise: `${alert} fires`,
    read: ({ rules }: Files) => {
      const rule = rules.find((each) => each.alert === alert);
      const compared = rule?.expr.match(/"[^"]*"|[=!<>]=|[<>]|\b\d[\d.]*[smhd]?\b/g) ?? [];
      return [rule?.labels.severity, rule?.for, ...compared].join(" ").replaceAll('"', "");
    },
    expected,
  })),
  {
    file: "deploy/monitoring/prometheus.yml",
    promise: "evaluates the alerts",
    read: ({ ruleFiles }) => ruleFiles,
    expected: ["prometheus-rules.yml"],
  },
  {
    file: "deploy/monitoring/prometheus.yml",
    promise: "asks each service on the port that has its metrics",
    read: ({ scraped }) =>
      Object.fromEntries(
        scraped.map(({ job_name, static_configs }) => [job_name, static_configs.flatMap((it) => it.targets)]),
      ),
    expected: {
      "report-service": ["report-service:9100"],
      postgrest: ["postgrest:3001"],
      refresher: ["refresher:8007"],
      gateway: ["gateway:8100"],
      postgres: ["postgres-exporter:9187"],
      node: ["node-exporter:9100"],
    },
  },
];

export const promises = [...kong, ...postgrest, ...compose, ...kubernetes, ...monitoring];
