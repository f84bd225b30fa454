import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { pino } from "pino";
import { afterAll, vi } from "vitest";
import { parse, stringify } from "yaml";
import {
  type EmbeddedGateway,
  type EmbeddedGatewayOptions,
  startEmbeddedGateway,
} from "../../gateway/embedded/start-embedded-gateway.ts";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { issueKey } from "../support/issue-key.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { runProgram } from "../support/run-stack.ts";
import { kongProgram, startKong, unlimitedAddresses } from "../support/start-kong.ts";
import { askRedis, startRedis, watchRedis } from "../support/start-redis.ts";
import type { WireAnswer } from "../torture/send-request.ts";

const closes: (() => Promise<void> | void)[] = [];
/** Registers a function that useGateways calls after the last test of the file. */
export const onClose = (close: (typeof closes)[number]) => void closes.push(close);

/** Closes the gateways and upstreams that a test file starts, after its last test. */
export const useGateways = () =>
  afterAll(async () => {
    for (const close of closes.splice(0).reverse()) await close();
  });

const gatewayToken = "the token of this test";

export { issueKey, kongProgram };

/** Keys that the gateway accepts. */
export const keys = {
  standard: issueKey("a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8"),
  other: issueKey("b1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8"),
  issuedEarlier: "earlier".padEnd(43, "0123456789"),
};

type Limit = { by: "key" | "network"; hour?: number; day?: number };
interface KongYml {
  services: { url: string; read_timeout: number }[];
  plugins: { name: string; config: Record<string, unknown> & { limits: Record<string, Limit> } }[];
}

/** Reads gateway/kong.yml, and lets `change` change it. */
export async function readKongYml(
  change: (kong: {
    service: KongYml["services"][number];
    config: KongYml["plugins"][number]["config"];
  }) => void = () => {},
): Promise<string> {
  const document: KongYml = parse(
    await readFile(path.resolve(import.meta.dirname, "../../gateway/kong.yml"), "utf8"),
  );
  const [service] = document.services;
  const config = document.plugins.find(({ name }) => name === "single-audit")?.config;
  if (!service || !config) throw new Error("gateway/kong.yml has no service, or no plugin single-audit");
  change({ service, config });
  return stringify(document);
}

/** Limits that no test reaches. */
export const unlimited = ({ config }: { config: { limits: Record<string, Limit> } }) => {
  for (const limit of Object.values(config.limits)) Object.assign(limit, { hour: 1_000_000, day: 1_000_000 });
};

/** Returns a configuration like gateway/kong.yml, with one service, one route and global plugins. */
export function configFor(
  url: string,
  plugins: { name: string; config: object }[] = [],
  service: object = {},
): string {
  const route = { name: "all", paths: ["/"] };
  const services = [{ name: "api", url, retries: 0, routes: [route], ...service }];
  return JSON.stringify({ _format_version: "3.0", services, plugins });
}

export async function startEmbedded(
  config: string,
  upstream: string,
  options: Partial<EmbeddedGatewayOptions> = {},
): Promise<EmbeddedGateway> {
  const env = { POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken };
  const logger = pino({ level: "silent" });
  const basic = { host: "127.0.0.1", port: 0, metricsPort: 0, config, env, logger };
  const gateway = await startEmbeddedGateway({ ...basic, ...options });
  closes.push(() => gateway.close());
  return gateway;
}

/** Starts real Kong. `port` is a free one if absent. */
export async function startRealKong(
  config: string,
  upstream: string,
  trustedIps: string[] = [],
  environment: NodeJS.ProcessEnv = unlimitedAddresses,
  port?: number,
) {
  const kong = await startKong({
    directory: await makeDirectory(),
    config,
    upstream,
    gatewayToken,
    environment: { ...environment, KONG_TRUSTED_IPS: trustedIps.join() },
    port,
  });
  closes.push(kong.stop);
  return kong;
}

/**
 * Starts a Redis, and returns it with a function that starts gateways which share their counts in it.
 *
 * @param limits of each tier
 * @param environment overrides gateway/kong.env
 * @param answer of the upstream
 */
export async function startSharedRedis(
  limits: Record<string, Limit>,
  environment: NodeJS.ProcessEnv = {},
  answer: RequestListener = (_, response) => response.end("[]"),
) {
  const [port, password] = [await findFreePort(), "the password of this test"];
  const startOneRedis = () => startRedis(port, password);
  const upstream = await startUpstream(answer);
  const shared = {
    ...unlimitedAddresses,
    REDIS_HOST: "127.0.0.1",
    REDIS_PORT: String(port),
    REDIS_PASSWORD: password,
    ...environment,
  };
  const config = await readKongYml(({ config }) => {
    config.limits = limits;
  });
  let redis = await startOneRedis();
  closes.push(() => redis.stop());
  return {
    freeze: () => redis.freeze(),
    thaw: () => redis.thaw(),
    run: (command: string) => redis.run(command),
    stop: () => redis.stop(),
    /** Starts it again, empty. */
    restart: async () => {
      redis = await startOneRedis();
    },
    /** How many requests with this key Redis knows of. */
    sumCounts: (key: string) => askRedis(port, password, sumCounts, `*${nameClient(key)}`),
    countKeys: () => askRedis(port, password, "return redis.call('DBSIZE')", ""),
    watch: () => watchRedis(port, password),
    /** @param gatewayPort a free port if absent */
    startGateway: (gatewayPort?: number) => startRealKong(config, upstream, [], shared, gatewayPort),
  };
}

export const hash = (text: string) => createHash("sha256").update(text).digest("hex");
/** How the names of a key's windows end. */
export const nameClient = (key: string) => hash(key).slice(0, 32);
const sumCounts =
  "local sum = 0 for _, key in ipairs(redis.call('KEYS', ARGV[1])) do for _, count in ipairs(redis.call('HVALS', key)) do sum = sum + count end end return sum";

/** What the gateways log when their Redis fails and recovers. */
export const redisLog = { away: "Redis does not answer", back: "Redis answers again" };

/** Starts real Kong if KONG_BIN is set, and otherwise the embedded gateway. */
export const startGateway = (config: string, upstream: string, trustedIps: string[] = []) =>
  kongProgram === undefined
    ? startEmbedded(config, upstream, { trustedIps })
    : startRealKong(config, upstream, trustedIps);

/** Starts the gateway as a program of its own, so that its CPU time can be read. */
export async function startGatewayProgram(
  config: string,
  upstream: string,
): Promise<{ url: string; pid: number }> {
  if (kongProgram !== undefined) {
    return startRealKong(config, upstream);
  }
  const file = path.join(await makeDirectory(), "kong.yml");
  await writeFile(file, config);
  const args = ["--port", "0", "--metrics-port", "0", "--config", file];
  const env = { ...process.env, POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken };
  const { child, output, exited } = runProgram("gateway-embedded.ts", args, env);
  closes.push(async () => {
    child.kill();
    await exited;
  });
  await vi.waitUntil(() => output().includes("ready"), { timeout: 60_000 });
  return { url: /on (\S+),/.exec(output())?.[1] ?? "", pid: child.pid ?? 0 };
}

export async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer({ maxHeaderSize: 1 << 18 }, listener);
  // Longer than gateways keep connections open.
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closes.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the URL of an upstream to which connections time out, as if its host were down. */
export async function startSilentUpstream(): Promise<string> {
  const program = `const server = require("node:net").createServer();
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      require("node:worker_threads").parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(program, { eval: true });
  closes.push(async () => void (await worker.terminate()));
  const [port] = await once(worker, "message");
  // The kernel accepts a few connections for a thread that does not, as many as its queue holds.
  const waiting = Array.from({ length: 4 }, () => connect(Number(port), "127.0.0.1").on("error", () => {}));
  closes.push(() => waiting.forEach((socket) => void socket.destroy()));
  await sleep(100);
  return `http://127.0.0.1:${Number(port)}`;
}

/** Opens a request on a new connection. Its path is sent unchanged. */
export function openRequest(url: string, path: string, options: RequestOptions = {}) {
  const { hostname, port } = new URL(url);
  return request({ host: hostname, port, path, agent: false, ...options });
}

export async function send(
  url: string,
  path: string,
  options: RequestOptions = {},
  sent?: string,
): Promise<WireAnswer> {
  const client = openRequest(url, path, options);
  client.end(sent);
  const [response] = (await once(client, "response")) as [IncomingMessage];
  const bytes = await buffer(response);
  const isCompressed = bytes.length > 0 && response.headers["content-encoding"] === "gzip";
  const body = String(isCompressed ? gunzipSync(bytes) : bytes);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/**
 * Sends bytes and returns the response. Stops reading when the gateway closes the connection, sends nothing for
 * `patience` milliseconds, or pauses for 300 ms after it has started to send. Until then, sends a letter every `pause`
 * milliseconds.
 */
export async function sendBytes(url: string, bytes: string, patience = 10_000, pause = 0): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
    socket.setTimeout(Math.min(patience, 300));
  });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.setTimeout(patience, () => socket.destroy());
  socket.write(bytes, "latin1");
  const trickle = setInterval(() => pause > 0 && answer === "" && socket.write("a"), pause || patience);
  await closed;
  clearInterval(trickle);
  return answer;
}
