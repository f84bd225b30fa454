import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import path from "node:path";
import { which } from "zx";
import { type ChildProcess, startChildProcess } from "../scripts/servers/child-process.ts";
import { findFreePort } from "../scripts/servers/find-free-port.ts";
import { checkRedis, startKong } from "../scripts/stack/kong.ts";
import { signGatewayToken } from "../scripts/stack/sign-gateway-token.ts";
import { ask } from "./ask.ts";
import { summarize } from "./measure.ts";
import { alternate } from "./measure-look-ups.ts";
import { listBelow, readCpuTime, readMegabytes, readTreeTime } from "./process-time.ts";
import type { BenchStack } from "./start-bench-stack.ts";
import { unlimitedAddresses, writeHighLimits } from "./write-high-limits.ts";

interface Node {
  url: string;
  pid: number;
  startMilliseconds: number;
  stop: () => Promise<void>;
}

const keyCount = 1_000_000;
/** How often to start a node with few keys and a node with many, in turn. */
const rounds = 3;
const limit = 30;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const round = (value = 0) => Math.round(value).toLocaleString("en-US");

/**
 * Measures an installed Kong (KONG_BIN, or kong on the PATH) on the stack's PostgREST: what a look-up costs, how exact
 * limits are, and what a million keys change. Says so if Kong or Redis is not installed.
 */
export async function measureKong(stack: BenchStack, turns: number): Promise<void> {
  const program = await which(process.env.KONG_BIN ?? "kong", { nothrow: true });
  if (program === null)
    return say("Kong was not measured, because it is not installed. Set KONG_BIN to measure it.");
  const children: ChildProcess[] = [];
  const keep = (child: ChildProcess) => void children.push(child);
  try {
    const redis = await startRedis(keep);
    if (redis === undefined)
      say(
        "Counters in Redis were not measured, because redis-server is not on the PATH. Install it to measure them.",
      );
    await measure(stack, { turns, program, redis, keep });
    say(`Load: ${loadavg().map((each) => each.toFixed(1))} (1, 5 and 15 minutes).`);
  } finally {
    for (const child of children.reverse()) await child.stop(5000);
  }
}

interface Means {
  turns: number;
  program: string;
  redis: Redis | undefined;
  keep: (child: ChildProcess) => void;
}
type Redis = { host: string; port: number; password: undefined };

async function measure(stack: BenchStack, { turns, program, redis, keep }: Means): Promise<void> {
  const { client, facts, secrets, directory } = stack;
  const gatewayToken = await signGatewayToken(secrets.jwtSecret);
  const config = await writeHighLimits(directory);
  const text = await readFile(config, "utf8");
  const common = describeCommonKong(facts.keys.individual, stack.asGateway(facts.keys.individual));
  /** Without sync_rate, each request waits for Redis. */
  const configs: Record<string, [text: string, redis?: Redis]> = {
    "Kong, local": [text],
    ...(redis && {
      "Kong, Redis": [text, redis],
      "Kong, Redis without sync_rate": [text.replaceAll(/^ *sync_rate: .*\n/gm, ""), redis],
    }),
    "Kong, common plugins": [common],
  };
  const startNode = async (
    content: string,
    its?: Redis,
    postgrestUrl = facts.postgrest_url,
  ): Promise<Node> => {
    const port = await findFreePort();
    const place = path.join(directory, `kong-${port}`);
    await mkdir(place, { mode: 0o711 });
    const file = path.join(place, "kong.yml");
    await writeFile(file, content);
    const started = performance.now();
    let child: ChildProcess | undefined;
    const url = await startKong(
      {
        program,
        prefix: path.join(place, "prefix"),
        port,
        metricsPort: await findFreePort(),
        config: file,
        postgrestUrl,
        gatewayToken,
        redis: its,
        trustedIps: [],
        environment: {
          ...process.env,
          ...unlimitedAddresses,
          ...(content === common ? { KONG_PLUGINS: "cors,key-auth,rate-limiting,request-transformer" } : {}),
        },
      },
      (it) => {
        child = it;
        keep(it);
      },
    );
    const stop = async () => child?.stop(5000);
    return { url, pid: child?.pid ?? 0, startMilliseconds: performance.now() - started, stop };
  };

  const { rows } = await client.query("select report_id from disclosed.general");
  const ids: string[] = rows.map((row) => row.report_id);
  const withKey = { "x-api-key": facts.keys.individual };
  const lookUp = (url: string, headers: Record<string, string>) => (id: string) =>
    ask(`${url}/general?report_id=eq.${id}`, headers);

  await compareConfigurations();
  await measureAccuracy();
  await measureManyKeys();

  /** Microseconds of Kong's CPU per look-up, and look-ups per second, for each configuration in turn. */
  async function compareConfigurations(): Promise<void> {
    const nodes = new Map<string, Node>();
    for (const [name, its] of Object.entries(configs)) nodes.set(name, await startNode(...its));
    const direct = stack.asGateway(facts.keys.individual);
    const arms = {
      "PostgREST alone": (id: string) =>
        lookUp(facts.postgrest_url, { ...direct, "x-filter-report-id": `eq.${id}` })(id),
      ...Object.fromEntries([...nodes].map(([name, { url }]) => [name, lookUp(url, withKey)])),
    };
    const { rates, costs } = await alternate(arms, ids, turns, (arm) => {
      const node = nodes.get(arm);
      return { kong: node === undefined ? 0 : readTreeTime(node.pid) };
    });
    const median = (values?: number[]) => summarize(values ?? []).median;
    const cost = (arm: string) => median(costs.get(arm)?.map(({ kong }) => kong));
    const rate = (arm: string) => median(rates.get(arm));
    for (const arm of Object.keys(arms))
      say(`${arm}: ${round(rate(arm))} look-ups a second, ${round(cost(arm))} µs of Kong's CPU each`);
    for (const arm of Object.keys(arms).filter((name) => /^Kong, (Redis|local)$/.test(name))) {
      say(
        `${arm}: ${(cost(arm) / cost("Kong, common plugins")).toFixed(2)} of the common plugins' CPU, ` +
          `${(rate(arm) / rate("PostgREST alone")).toFixed(2)} of PostgREST's look-ups a second`,
      );
    }
    for (const node of nodes.values()) await node.stop();
  }

  /** How many requests pass a limit of 30, by the number of connections, with an upstream that answers at once. */
  async function measureAccuracy(): Promise<void> {
    const upstream = createServer((_request, response) => response.end("{}"));
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    for (const [name, [content, its]] of Object.entries(configs)) {
      if (content === common) continue;
      const low = content.replaceAll(/\bhour: \d+/g, `hour: ${limit}`);
      const node = await startNode(low, its, upstreamUrl);
      for (const connections of [4, 100]) {
        const passed: number[] = [];
        for (let turn = 0; turn < turns; turn += 1) {
          // The upstream looks up no key, so any key will do.
          const key = [...crypto.getRandomValues(new Uint8Array(43))].map((byte) => "ab"[byte % 2]).join("");
          passed.push(await countPassed(node.url, key, connections));
        }
        const { min, max } = summarize(passed);
        say(
          `${name}: of a limit of ${limit}, ${min} to ${max} requests passed over ${connections} connections`,
        );
      }
      await node.stop();
    }
    upstream.close();
    upstream.closeAllConnections();
  }

  /** Startup time, the workers' memory and a look-up's CPU: with three keys and with a million, in turn. */
  async function measureManyKeys(): Promise<void> {
    // So that no event is recorded for these keys, and they can be removed.
    const withoutTriggers = (sql: string) =>
      client.query(`begin; set local session_replication_role = replica; ${sql}; commit`);
    const states = {
      "3 keys": "delete from access.api_keys where owner_email = 'measured@example.gov'",
      [`${round(keyCount)} keys`]: `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix)
        select 'individual', 'measured@example.gov', sha256(number::text::bytea), 'measur'
        from generate_series(1, ${keyCount}) as number`,
    };
    const figures = new Map<string, Record<string, number>[]>();
    for (let turn = 0; turn < rounds; turn += 1) {
      for (const [name, sql] of Object.entries(states)) {
        await withoutTriggers(sql);
        await client.query("vacuum analyze access.api_keys");
        const node = await startNode(text, redis);
        const arms = { it: lookUp(node.url, withKey) };
        const { latencies, costs } = await alternate(arms, ids, 1, () => ({
          ...readCpuTime(stack.pid),
          kong: readTreeTime(node.pid),
        }));
        const issued = await client.query(
          "select api_key from set_config('access.operator', 'npm run bench', false), access.issue_key('individual', 'measured@example.gov')",
        );
        // Fails unless the answer is 200.
        await ask(`${node.url}/general?limit=1`, { "x-api-key": issued.rows[0].api_key });
        const [{ postgres, postgrest, kong } = { postgres: 0, postgrest: 0, kong: 0 }] =
          costs.get("it") ?? [];
        figures.set(name, [
          ...(figures.get(name) ?? []),
          {
            "ms from Kong's start until it serves": node.startMilliseconds,
            "MB in its largest worker": Math.max(...listWorkers(node.pid)),
            "µs for a look-up": summarize(latencies.get("it") ?? []).median * 1000,
            "µs of CPU for it (PostgreSQL, PostgREST and Kong)": postgres + postgrest + kong,
            "µs of PostgreSQL's": postgres,
          },
        ]);
        await node.stop();
      }
    }
    for (const [name, all] of figures) {
      const medians = Object.keys(all[0] ?? {}).map(
        (label) => `${round(summarize(all.map((each) => each[label] ?? 0)).median)} ${label}`,
      );
      say(`${name}, and a new one worked at once: ${medians.join(", ")}`);
    }
  }
}

/** Megabytes that the workers of Kong hold. */
function listWorkers(pid: number): number[] {
  const workers = listBelow(pid).filter(({ command }) => command.startsWith("nginx: worker"));
  return workers.map((worker) => readMegabytes(worker.pid).now);
}

/** Sends 400 requests at once, over this many connections. */
async function countPassed(url: string, key: string, connections: number): Promise<number> {
  let passed = 0;
  let left = 400;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (; left > 0; left -= 1) {
        const response = await fetch(`${url}/general`, { headers: { "x-api-key": key } });
        await response.body?.cancel();
        if (response.status === 200) passed += 1;
      }
    }),
  );
  return passed;
}

/** Kong with keys of its own, the plugins that most guides use, and counters in memory. */
function describeCommonKong(key: string, headers: Record<string, string>): string {
  const add = Object.entries(headers).map(([name, value]) => `${name}:${value}`);
  return JSON.stringify({
    _format_version: "3.0",
    consumers: [{ username: "somebody", keyauth_credentials: [{ key }] }],
    services: [{ name: "postgrest", url: "$" + "{POSTGREST_URL}", routes: [{ name: "all", paths: ["/"] }] }],
    plugins: [
      { name: "key-auth", config: { key_names: ["x-api-key"], hide_credentials: true } },
      { name: "rate-limiting", config: { hour: 100_000_000, policy: "local" } },
      { name: "cors" },
      { name: "request-transformer", config: { add: { headers: add } } },
    ],
  });
}

/** Starts Redis or Valkey without persistence. Returns undefined if neither is installed. */
async function startRedis(keep: (child: ChildProcess) => void): Promise<Redis | undefined> {
  const command =
    (await which("redis-server", { nothrow: true })) ?? (await which("valkey-server", { nothrow: true }));
  if (command === null) return undefined;
  const port = await findFreePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  keep(startChildProcess({ name: "Redis", command, args, env: {}, stopSignal: "SIGTERM" }));
  const redis: Redis = { host: "127.0.0.1", port, password: undefined };
  for (let turn = 0; turn < 50; turn += 1) {
    if (
      await checkRedis(redis).then(
        () => true,
        () => false,
      )
    )
      return redis;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await checkRedis(redis);
  return redis;
}
