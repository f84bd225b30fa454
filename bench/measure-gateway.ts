import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { parse, stringify } from "yaml";
import { findFreePort } from "../scripts/servers/find-free-port.ts";
import { issueKey } from "../test/support/issue-key.ts";
import { readTreeTime } from "../test/support/read-cpu-time.ts";
import { kongProgram, type RunningKong, startKong, unlimitedAddresses } from "../test/support/start-kong.ts";
import { redisProgram, startRedis } from "../test/support/start-redis.ts";
import { readUnlimitedConfig } from "./bench-stack.ts";
import { type Arm, ask, measure } from "./measure.ts";
import type { Figure } from "./results.ts";

const section = "The gateway";
const connections = 8;
const requests = 5000;
const key = issueKey("a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8");
const redisPassword = "the password of this run";
const query = "/general?report_id=eq.2023-06-GSAFAC-0000000001";
const common = "key-auth and rate-limiting, Redis";

/** What to do before this section can be measured; undefined if nothing is missing. */
export const missingForGateway =
  kongProgram === undefined
    ? "Set GATEWAY=kong for the Kong on the PATH, or KONG_BIN to the program."
    : redisProgram === undefined
      ? "Put redis-server or valkey-server on the PATH."
      : undefined;

/** Compares the CPU time of Kong with this project's plugin and with Kong's own plugins, with a trivial upstream. */
export async function measureGateway(parent: string, turns: number): Promise<Figure[]> {
  const closes: (() => Promise<unknown>)[] = [];
  try {
    const upstream = createServer((_, response) => response.end("[]")).listen(0, "127.0.0.1");
    await once(upstream, "listening");
    closes.push(async () => upstream.close().closeAllConnections());
    const redisPort = await findFreePort();
    const redis = await startRedis(redisPort, redisPassword);
    closes.push(redis.stop);
    const start = async (config: string, environment: Record<string, string> = {}) => {
      const kong = await startKong({
        directory: await mkdtemp(path.join(parent, "kong-")),
        config,
        upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
        gatewayToken: "the token of this run",
        environment: { ...unlimitedAddresses, ...environment },
      });
      closes.push(kong.stop);
      return kong;
    };
    const config = await readUnlimitedConfig();
    const withRedis = { REDIS_HOST: "127.0.0.1", REDIS_PORT: `${redisPort}`, REDIS_PASSWORD: redisPassword };
    const commonPlugins = { KONG_PLUGINS: "cors,prometheus,key-auth,rate-limiting" };
    const kongs: Record<string, RunningKong> = {
      "this gateway, Redis": await start(config, withRedis),
      "this gateway, local counts": await start(config),
      [common]: await start(replacePlugin(config, redisPort), commonPlugins),
      "key-auth and rate-limiting, local counts": await start(replacePlugin(config), commonPlugins),
    };
    const send =
      ({ url }: RunningKong): Arm =>
      () =>
        ask(url + query, { "x-api-key": key });
    const arms = Object.fromEntries(Object.entries(kongs).map(([arm, kong]) => [arm, send(kong)]));
    const readTimes = (arm: string) => ({
      gateway: readTreeTime(kongs[arm]?.pid ?? 0),
      Redis: readTreeTime(redis.pid),
    });
    const figures = await measure(section, arms, { turns, requests, connections, readTimes });
    return [...figures, ...compare(figures)];
  } finally {
    for (const close of closes.reverse()) await close();
  }
}

/** Replaces this project's plugin with the plugins that users of Kong commonly combine. Everything else stays. */
function replacePlugin(config: string, redisPort?: number): string {
  const document: { plugins: { name: string }[] } = parse(config);
  // Without sync_rate, Redis counts each request at once, as with this project's plugin.
  const redis = { host: "127.0.0.1", port: redisPort, password: redisPassword, timeout: 100 };
  const policy = redisPort === undefined ? { policy: "local" } : { policy: "redis", redis };
  const plugins = [
    { name: "key-auth", config: { key_names: ["x-api-key"], hide_credentials: true } },
    { name: "rate-limiting", config: { hour: 100_000_000, ...policy } },
    ...document.plugins.filter(({ name }) => name !== "single-audit"),
  ];
  const consumers = [{ username: "bench", keyauth_credentials: [{ key }] }];
  return stringify({ ...document, plugins, consumers });
}

/** Returns the CPU time of each arm, relative to the common plugins with Redis. */
function compare(figures: Figure[]): Figure[] {
  const times = figures.filter(({ quantity }) => quantity === "gateway, CPU ms");
  const base = times.find(({ arm }) => arm === common)?.value ?? Number.NaN;
  return times.map(({ arm, value }) => ({
    section,
    arm,
    quantity: "gateway, relative CPU",
    value: value / base,
  }));
}
