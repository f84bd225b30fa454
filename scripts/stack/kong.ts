import { chown, mkdir, realpath, rm } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { which } from "zx";
import { type ChildProcess, startChildProcess, unprivilegedId } from "../servers/child-process.ts";

export interface KongOptions {
  /** Path of the program: see locateKong. */
  program: string;
  /** Of Kong alone; emptied at each start. */
  prefix: string;
  port: number;
  adminPort: number;
  /** Hops whose X-Forwarded-For is believed. */
  trustedIps: readonly string[];
  /** Kong's own database: see prepareKongDatabase. */
  databaseUrl: string;
  /** Whether the database may still have the tables of another version of Kong, or none. */
  migrates: boolean;
  /** Stand in Kong's environment alone, and in no database. */
  secrets: { gatewayToken: string; redisPassword?: string | undefined };
  environment: NodeJS.ProcessEnv;
}

/**
 * What this service needs of Kong wherever it runs. docker-compose.yml says the same, and a test compares them.
 *
 * Nginx writes the request line, query string and all, beside what goes wrong in a request (`crit` where a disk is full,
 * `alert` for its own faults), and nothing can change that. A key may stand there, so only `emerg` is logged: why it does
 * not start.
 */
export const kongSettings: Readonly<Record<string, string>> = {
  KONG_DATABASE: "postgres",
  // A node asks its database this often, in seconds, for what was changed by another node: a key that was refused a
  // moment ago works everywhere after it. Each worker asks; the question costs the database next to nothing.
  KONG_DB_UPDATE_FREQUENCY: "0.5",
  // And makes its routes anew this soon after a change of services, routes or plugins.
  KONG_WORKER_STATE_UPDATE_FREQUENCY: "1",
  // What is known is kept (0: for good, until it changes) and goes on to be served while the database is away.
  KONG_DB_CACHE_TTL: "0",
  // A key that was not found is looked up again after half a second, also where word of it got lost.
  KONG_DB_CACHE_NEG_TTL: "0.5",
  // Of each worker. Keys that nobody has are looked up there: many at once wait, and take no connection from PostgREST.
  KONG_PG_MAX_CONCURRENT_QUERIES: "10",
  // No more than gateway/kong.yml uses, and what operations.md says of metrics.
  KONG_PLUGINS:
    "correlation-id,cors,key-auth,post-function,pre-function,prometheus,rate-limiting,request-size-limiting,request-termination,request-transformer",
  // The pre-function of gateway/kong.yml hashes keys; without this every request that has a key fails with 500.
  KONG_UNTRUSTED_LUA_SANDBOX_REQUIRES: "kong.tools.sha256",
  KONG_NGINX_PROXY_GZIP: "on",
  // The rows, one row alone, and the description at /.
  KONG_NGINX_PROXY_GZIP_TYPES:
    "application/json text/csv application/vnd.pgrst.object+json application/openapi+json",
  KONG_NGINX_PROXY_GZIP_PROXIED: "any",
  KONG_NGINX_PROXY_GZIP_VARY: "on",
  // A client that hangs holds a connection for no longer than this: while it sends the head of a request or a body, says
  // nothing between requests, or does not read its answer. The embedded gateway does the same.
  KONG_NGINX_HTTP_CLIENT_HEADER_TIMEOUT: "10s",
  KONG_NGINX_HTTP_CLIENT_BODY_TIMEOUT: "10s",
  KONG_NGINX_HTTP_KEEPALIVE_TIMEOUT: "75s",
  KONG_NGINX_HTTP_SEND_TIMEOUT: "75s",
  // Connections of a worker, those to PostgREST among them.
  KONG_NGINX_EVENTS_WORKER_CONNECTIONS: "8192",
  // Clients name columns in the URL: more than 7 KB of them. The header lines count one by one.
  KONG_NGINX_HTTP_LARGE_CLIENT_HEADER_BUFFERS: "4 32k",
  // PostgREST repeats the URL, percent-encoded, in Content-Location; nginx's 4 KB for an answer's headers are too few.
  KONG_NGINX_PROXY_PROXY_BUFFER_SIZE: "160k",
  KONG_NGINX_PROXY_PROXY_BUFFERS: "8 160k",
  // What a slow client has not read yet waits in a file: PostgREST gives up who does not read for half a minute. The
  // heaviest answer has room in one, lest a 200 be cut off (docs/operations.md, Memory).
  KONG_NGINX_PROXY_PROXY_MAX_TEMP_FILE_SIZE: "256m",
  // Counted by nginx and refused by gateway/kong.yml, so that one client cannot fill the disk.
  KONG_NGINX_HTTP_LIMIT_CONN_ZONE: "$remote_addr$http_x_api_key zone=clients:10m",
  KONG_NGINX_PROXY_LIMIT_CONN: "clients 24",
  KONG_NGINX_PROXY_LIMIT_CONN_DRY_RUN: "on",
  // A read goes to another PostgREST, if there is one, when it was refused, broken off or told 503 within a second: a
  // node that has gone, or does not serve yet. A query that ran for longer is the client's to repeat.
  KONG_NGINX_PROXY_PROXY_NEXT_UPSTREAM: "error timeout http_503",
  KONG_NGINX_PROXY_PROXY_NEXT_UPSTREAM_TIMEOUT: "1s",
  // The path without the query string, which may hold a key, and only a path that cannot hold one (gateway/kong.yml sets
  // the variable). Referer may repeat one, so it is left out too.
  KONG_NGINX_PROXY_SET: "$logged_path -",
  KONG_NGINX_HTTP_LOG_FORMAT: `without_query '$remote_addr [$time_iso8601] "$request_method $logged_path" $status $body_bytes_sent $request_time $kong_request_id $sent_http_x_request_id'`,
  KONG_LOG_LEVEL: "emerg",
  // The sync asks for something every second.
  KONG_ADMIN_ACCESS_LOG: "off",
  KONG_ADMIN_GUI_LISTEN: "off",
  KONG_STATUS_LISTEN: "off",
  KONG_ANONYMOUS_REPORTS: "off",
  // Without X-Kong-Upstream-Latency and its like, which nobody reads: the log has the times.
  KONG_HEADERS: "server_tokens,X-Kong-Request-Id",
  KONG_REAL_IP_HEADER: "X-Forwarded-For",
  KONG_REAL_IP_RECURSIVE: "on",
  KONG_NGINX_WORKER_PROCESSES: "2",
};

const startMilliseconds = 60_000;
const probeMilliseconds = 10_000;
/**
 * `kong start` is a chain of programs, of which a signal would reach the first only. So a shell passes it on to all
 * of them: they share its process group.
 */
const runInForeground = `trap 'trap "" TERM; kill -TERM 0; wait' TERM; "$1" start & wait $!`;

/**
 * Brings the database of a natively installed Kong to its version, starts it on the loopback interface, and waits for its
 * admin API. With an empty database it serves nobody before the sync has filled it.
 *
 * @param keep takes charge of its process at once
 * @returns the addresses of proxy and admin API
 * @throws Error when it ends, with its last lines of output
 */
export async function startKong(
  options: KongOptions,
  keep: (child: ChildProcess) => void,
): Promise<{ proxyUrl: string; adminUrl: string }> {
  await makePrefix(options.prefix);
  if (options.migrates) await migrate(options);
  const child = startChildProcess({
    name: "Kong",
    command: "/bin/sh",
    // The last two are for startChildProcess, which sees to it that they can be reached.
    args: ["-c", runInForeground, "sh", options.program, await realpath(options.program), options.prefix],
    env: describeEnvironment(options),
    stopSignal: "SIGTERM",
    hint: describeLog(options.prefix),
  });
  keep(child);
  let ending: string | undefined;
  void child.ended.then((line) => {
    ending = line;
  });
  const adminUrl = `http://127.0.0.1:${options.adminPort}`;
  for (const giveUpAt = Date.now() + startMilliseconds; ; await sleep(50)) {
    if (ending !== undefined) throw new Error(ending);
    const response = await fetch(`${adminUrl}/status`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return { proxyUrl: `http://127.0.0.1:${options.port}`, adminUrl };
    if (Date.now() > giveUpAt) {
      throw new Error(
        `Kong did not answer on ${adminUrl}/status in a minute. ${describeLog(options.prefix)}`,
      );
    }
  }
}

/**
 * Makes the tables of an empty database, or brings those of an older Kong to this one's: `up` while others may still run,
 * `finish` after it, as there is this one node alone.
 */
async function migrate(options: KongOptions): Promise<void> {
  const program = await realpath(options.program);
  for (const step of ["bootstrap", "up", "finish"]) {
    const child = startChildProcess({
      name: "kong migrations",
      command: "/bin/sh",
      args: ["-c", '"$1" migrations "$2" && echo done', "sh", options.program, step, program],
      env: describeEnvironment(options),
      stopSignal: "SIGTERM",
    });
    const ending = await child.ended;
    if (!ending.startsWith("kong migrations ended with exit code 0.")) throw new Error(ending);
  }
}

/** The whole of Kong's environment. What the caller has set as KONG_… stands where nothing here depends on it. */
export function describeEnvironment(options: KongOptions): Record<string, string> {
  const inherited = Object.entries(options.environment).filter(
    ([name, value]) =>
      value !== undefined &&
      name !== "KONG_BIN" &&
      (/^(KONG|LUA|RESTY|OPENRESTY)_/.test(name) || ["PATH", "HOME", "LD_LIBRARY_PATH"].includes(name)),
  );
  const { KONG_LOG_LEVEL = "emerg", KONG_NGINX_WORKER_PROCESSES = "2", ...needed } = kongSettings;
  return {
    KONG_LOG_LEVEL,
    KONG_NGINX_WORKER_PROCESSES,
    ...(Object.fromEntries(inherited) as Record<string, string>),
    ...needed,
    ...describeDatabase(options.databaseUrl),
    GATEWAY_TOKEN: options.secrets.gatewayToken,
    ...(options.secrets.redisPassword === undefined ? {} : { REDIS_PASSWORD: options.secrets.redisPassword }),
    KONG_PREFIX: options.prefix,
    KONG_NGINX_DAEMON: "off",
    KONG_PROXY_LISTEN: `127.0.0.1:${options.port}`,
    KONG_ADMIN_LISTEN: `127.0.0.1:${options.adminPort}`,
    // Files below the prefix: Node's pipes cannot be opened as /dev/stdout.
    KONG_PROXY_ACCESS_LOG: "logs/access.log without_query",
    KONG_PROXY_ERROR_LOG: "logs/error.log",
    KONG_ADMIN_ERROR_LOG: "logs/error.log",
    ...(options.trustedIps.length === 0 ? {} : { KONG_TRUSTED_IPS: options.trustedIps.join(",") }),
  };
}

function describeDatabase(databaseUrl: string): Record<string, string> {
  const url = new URL(databaseUrl);
  return {
    KONG_PG_HOST: url.hostname,
    KONG_PG_PORT: url.port || "5432",
    KONG_PG_USER: decodeURIComponent(url.username),
    KONG_PG_PASSWORD: decodeURIComponent(url.password),
    KONG_PG_DATABASE: url.pathname.slice(1),
  };
}

/**
 * Asks a configured Kong with a key that nobody has.
 *
 * @throws Error that says what to set, unless the key is refused as it should be
 */
export async function probeKong(proxyUrl: string): Promise<void> {
  for (const giveUpAt = Date.now() + probeMilliseconds; ; await sleep(100)) {
    const response = await fetch(proxyUrl, { headers: { "x-api-key": "no key of anybody" } }).catch(
      (error: Error) => error,
    );
    if (!(response instanceof Error)) {
      await response.body?.cancel();
      if (response.status === 401) return;
      if (response.status === 500) {
        throw new Error(
          "Kong answers 500 to requests with a key: its sandbox does not let gateway/kong.yml hash keys. " +
            "Set KONG_UNTRUSTED_LUA_SANDBOX_REQUIRES=kong.tools.sha256, and leave KONG_UNTRUSTED_LUA at its default, sandbox.",
        );
      }
    }
    if (Date.now() > giveUpAt) {
      const answer = response instanceof Error ? response.message : `the status ${response.status}`;
      throw new Error(
        `Kong was given its configuration but answers a wrong key with ${answer} in place of 401.`,
      );
    }
  }
}

/**
 * Kong serves uncounted while Redis is away, so a wrong address would go unnoticed.
 *
 * @throws Error that names the address
 */
export async function checkRedis({ host, port }: { host: string; port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, timeout: 2_000 }, () => resolve(void socket.end()));
    const fail = (reason: string) => {
      socket.destroy();
      reject(
        new Error(
          `Redis cannot be reached on ${host}:${port} (${reason}). Set REDIS_HOST and REDIS_PORT, or unset them.`,
        ),
      );
    };
    socket.once("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once("timeout", () => fail("no answer"));
  });
}

/**
 * Finds the program: the one given, or else kong on the PATH.
 *
 * @throws Error that says what to install or set
 */
export async function locateKong(binary: string | undefined): Promise<string> {
  const found = await which(binary ?? "kong", { nothrow: true });
  if (found !== null) return path.resolve(found);
  throw new Error(
    binary === undefined
      ? "Kong is not here. Put kong (3.9) on the PATH or set KONG_BIN to the program; or leave out --gateway kong, " +
          "and unset GATEWAY, for the embedded gateway."
      : `KONG_BIN names ${binary}, which is not a program that can be run.`,
  );
}

/** An empty directory. It gets the settings with the database's password, so only Kong's user may read it. */
async function makePrefix(prefix: string): Promise<void> {
  await rm(prefix, { recursive: true, force: true });
  await mkdir(prefix, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) await chown(prefix, unprivilegedId, unprivilegedId);
}

function describeLog(prefix: string): string {
  return `Its log is ${path.join(prefix, "logs/error.log")}.`;
}
