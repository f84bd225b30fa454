import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { SignJWT } from "jose";
import { Agent } from "undici";
import { stringify } from "yaml";
import { findFreePort } from "../scripts/servers/find-free-port.ts";
import { startProgram } from "../scripts/servers/run-program.ts";
import { preparePostgrest } from "../scripts/stack/postgrest.ts";
import { readCpuTime, readTreeTime } from "../test/support/read-cpu-time.ts";
import { kongProgram, startKong, unlimitedAddresses } from "../test/support/start-kong.ts";
import { redisProgram, startRedis } from "../test/support/start-redis.ts";
import { type BenchStack, describeKey, readUnlimitedConfig } from "./bench-stack.ts";
import { type Arm, ask, listMain, measure, sum } from "./measure.ts";
import type { Table } from "./results.ts";

const connections = 8;
const requests = 1000;
const redisPassword = "the password of this run";

/** A PostgREST on the stack's database that calls no function before each request. */
export interface BarePostgrest {
  url: string;
  headers: Record<string, string>;
  /** The CPU milliseconds that it has used. */
  readTime: () => number;
  stop: () => Promise<void>;
}

/**
 * Compares look-ups of reports by ID: PostgREST alone, this service's, and both behind gateways.
 */
export async function measureLookups(
  stack: BenchStack,
  bare: BarePostgrest,
  { gateways, turns }: { gateways: Gateways; turns: number },
): Promise<Table> {
  const { facts, client, keys } = stack;
  const { rows } = await client.query<{ report_id: string }>(
    "select report_id from disclosed.general order by md5(report_id) limit 1000",
  );
  // Each connection has its own key and address, because the gateway bounds how many of each are in progress.
  const agents = keys.map(
    (_, number) => new Agent({ connections: 1, localAddress: `127.3.0.${number + 1}` }),
  );
  const lookUp =
    (origin: string, describe: (key: string) => Record<string, string>, status = 200): Arm =>
    (number, connection) => {
      const filter = `eq.${rows[number % rows.length]?.report_id}`;
      // The gateway sends this header to PostgREST.
      const headers = { ...describe(keys[connection] ?? ""), "x-filter-report-id": filter };
      return ask(`${origin}/general?report_id=${filter}`, headers, status, agents[connection]);
    };
  const unchanged = async (origin: string, describe: (key: string) => Record<string, string>) => {
    const [key = ""] = keys;
    const { headers } = await ask(`${origin}/general?limit=1`, describe(key));
    return lookUp(origin, (key) => ({ ...describe(key), "if-none-match": String(headers.etag) }), 304);
  };
  const ofGateway = (key: string) => describeKey(stack, key);
  const ofClient = (key: string) => ({ "x-api-key": key });
  const arms: Record<string, Arm> = {
    "PostgREST alone": lookUp(bare.url, () => bare.headers),
    "PostgREST of this service": lookUp(facts.postgrest_url, ofGateway),
    "PostgREST of this service, 304": await unchanged(facts.postgrest_url, ofGateway),
    "through the embedded gateway": lookUp(facts.base_url, ofClient),
    "through the embedded gateway, 304": await unchanged(facts.base_url, ofClient),
  };
  for (const { name, url, isOwn } of gateways.list) {
    arms[name] = lookUp(url, ofClient);
    if (isOwn) arms[`${name}, 304`] = await unchanged(url, ofClient);
  }
  const readTimes = () => {
    const { PostgreSQL, PostgREST, gateway } = readCpuTime(facts.pid);
    return {
      PostgreSQL,
      PostgREST: PostgREST + bare.readTime(),
      gateway: gateway + gateways.readTime(),
      Redis: gateways.readRedis(),
    };
  };
  try {
    const costs = await measure(arms, { turns, requests, connections, readTimes });
    process.stderr.write("Measured: look-ups.\n");
    const base = sum(costs["PostgREST alone"] ?? {});
    const rows = Object.entries(costs).map(([arm, cost]) => {
      return [arm, { ...listMain(cost), all: sum(cost), relative: sum(cost) / base }];
    });
    return {
      title: `Look-ups of a report by its ID, ${connections} at a time`,
      text: "CPU time in ms per request. The limit is PostgREST alone, which reads this service's views and calls no function before each request.",
      rows: Object.fromEntries(rows),
    };
  } finally {
    for (const agent of agents) await agent.close();
  }
}

export type Gateways = Awaited<ReturnType<typeof startGateways>>;

/**
 * Starts Kong with this project's plugin, if it is installed.
 *
 * @param bare behind which to start Kong with the plugins that users of Kong commonly combine
 */
export async function startGateways(stack: BenchStack, bare: BarePostgrest | undefined, parent: string) {
  const stops: (() => Promise<unknown>)[] = [];
  const list: { name: string; url: string; pid: number; isOwn: boolean }[] = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  let redisPid = 0;
  const start = async (
    name: string,
    config: string,
    environment: Record<string, string>,
    other?: BarePostgrest,
  ) => {
    const kong = await startKong({
      directory: await mkdtemp(path.join(parent, "kong-")),
      config,
      upstream: other?.url ?? stack.facts.postgrest_url,
      gatewayToken: other === undefined ? stack.gatewayToken : "not used",
      environment: { ...unlimitedAddresses, ...environment },
    });
    stops.push(kong.stop);
    list.push({ name, url: kong.url, pid: kong.pid, isOwn: other === undefined });
  };
  const startCommon = async (name: string, redisPort?: number) => {
    const plugins = { KONG_PLUGINS: "prometheus,key-auth,rate-limiting,request-transformer" };
    if (bare !== undefined) await start(name, writeCommonConfig(stack, bare, redisPort), plugins, bare);
  };
  if (kongProgram !== undefined) {
    const config = await readUnlimitedConfig();
    await start("through Kong", config, {});
    await startCommon("PostgREST alone behind `key-auth` and `rate-limiting`");
    if (redisProgram !== undefined) {
      const port = await findFreePort();
      const redis = await startRedis(port, redisPassword);
      stops.unshift(redis.stop);
      redisPid = redis.pid;
      const shared = { REDIS_HOST: "127.0.0.1", REDIS_PORT: `${port}`, REDIS_PASSWORD: redisPassword };
      await start("through Kong with Redis", config, shared);
      await startCommon("PostgREST alone behind both, with Redis", port);
    }
  } else process.stderr.write("Left out Kong. Set KONG_BIN to the program, or GATEWAY=kong.\n");
  const own = list.filter(({ isOwn }) => isOwn);
  return {
    list,
    /** The URL of this project's Kong, with Redis if it is installed; undefined without Kong. */
    main: own.at(-1)?.url,
    stop,
    readTime: () => list.reduce((sum, { pid }) => sum + readTreeTime(pid), 0),
    readRedis: () => (redisPid === 0 ? 0 : readTreeTime(redisPid)),
  };
}

/** Kong with its own plugins, in front of PostgREST alone. */
function writeCommonConfig({ keys }: BenchStack, bare: BarePostgrest, redisPort?: number): string {
  // Without sync_rate, Redis counts each request at once, as with this project's plugin.
  const redis = { host: "127.0.0.1", port: redisPort, password: redisPassword, timeout: 100 };
  const policy = redisPort === undefined ? { policy: "local" } : { policy: "redis", redis };
  const authorization = Object.values(bare.headers).map((value) => `authorization:${value}`);
  return stringify({
    _format_version: "3.0",
    services: [
      { name: "postgrest", url: bare.url, routes: [{ name: "postgrest", paths: ["/"], strip_path: false }] },
    ],
    plugins: [
      { name: "key-auth", config: { key_names: ["x-api-key"], hide_credentials: true } },
      { name: "rate-limiting", config: { hour: 100_000_000, ...policy } },
      { name: "request-transformer", config: { add: { headers: authorization } } },
      { name: "prometheus" },
    ],
    consumers: keys.map((key, number) => ({
      username: `bench-${number}`,
      keyauth_credentials: [{ key }],
    })),
  });
}

/** Starts a PostgREST on the stack's database that calls no function before each request, and also serves the common design. */
export async function startBarePostgrest({ facts, secrets }: BenchStack): Promise<BarePostgrest> {
  const databaseUrl = new URL(facts.database_url);
  databaseUrl.username = "authenticator";
  databaseUrl.password = encodeURIComponent(secrets.rolePasswords.authenticator);
  const port = await findFreePort();
  const program = await preparePostgrest({
    binary: process.env.POSTGREST_BIN,
    databaseUrl: databaseUrl.href,
    jwtSecret: secrets.jwtSecret,
    port,
    adminPort: await findFreePort(),
    settings: {
      PGRST_DB_PRE_CONFIG: "",
      PGRST_DB_PRE_REQUEST: "",
      PGRST_DB_SCHEMAS: "api_v1_1_0,common_api",
      PGRST_DB_EXTRA_SEARCH_PATH: "request",
      PGRST_DB_MAX_ROWS: "20000",
    },
  });
  const postgrest = startProgram(program);
  await postgrest.ready;
  const token = await new SignJWT({ role: "api_public" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(secrets.jwtSecret));
  return {
    url: `http://127.0.0.1:${port}`,
    readTime: () => readTreeTime(postgrest.pid ?? 0),
    headers: { authorization: `Bearer ${token}` },
    stop: () => postgrest.stop(),
  };
}
