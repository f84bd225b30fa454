import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { deployDatabase } from "../scripts/deploy/deploy-database.ts";
import type { ChildProcess } from "../scripts/servers/child-process.ts";
import { startPostgres } from "../scripts/servers/postgres.ts";
import { locateKong, startKong } from "../scripts/stack/kong.ts";
import { prepareKongDatabase } from "../scripts/stack/kong-database.ts";

// What a hundred thousand keys cost on two nodes of real Kong that share a database:
//   KONG_BIN=/usr/local/bin/kong node --import tsx bench/measure-keys.ts DIRECTORY [KEYS]

const [directory = "", count = "100000"] = process.argv.slice(2);
const keyCount = Number(count);
const children: ChildProcess[] = [];
const keep = (child: ChildProcess) => void children.push(child);
const sampleKey = (number: number) => `measured-${number}`;
const say = (line: string) => process.stdout.write(`${line}\n`);

await mkdir(directory, { recursive: true, mode: 0o711 });
const upstream = createServer((_request, response) => response.end("{}"));
await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const { port: upstreamPort } = upstream.address() as AddressInfo;
const databaseUrl = await startPostgres({
  directory,
  port: await findPort(),
  superuserPassword: randomBytes(16).toString("hex"),
  keep,
  memory: 2048,
});
await deployDatabase(databaseUrl);
const client = new Client({ connectionString: databaseUrl });
await client.connect();
await client.query(
  "alter table access.tiers drop constraint tiers_leave_connections_to_others; " +
    "update access.tiers set requests_per_hour = 100000000, requests_per_day = null, requests_at_a_time = 8",
);
await client.query(
  `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix)
   select 'individual', 'somebody@example.gov', sha256(('measured-' || number)::bytea), 'measur'
   from generate_series(1, $1) as number`,
  [keyCount],
);
const kongUrl = await prepareKongDatabase(databaseUrl, randomBytes(16).toString("hex"));
const program = await locateKong(process.env.KONG_BIN);
const startNode = async (name: string) =>
  await startKong(
    {
      program,
      prefix: path.join(directory, name),
      port: await findPort(),
      adminPort: await findPort(),
      trustedIps: [],
      databaseUrl: kongUrl,
      secrets: { gatewayToken: "none" },
      environment: process.env,
    },
    keep,
  );
const first = await startNode("kong-1");
const second = await startNode("kong-2");

/** The sync as it runs in production, in a process of its own; resolves when the node is as wanted. */
async function startSync() {
  const port = await findPort();
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=4", "--max-old-space-size=192", "--import", "tsx", "scripts/gateway-sync.ts"],
    {
      cwd: path.resolve(import.meta.dirname, ".."),
      env: {
        PATH: process.env.PATH,
        GATEWAY_SYNC_DATABASE_URL: `${databaseUrl}?options=${encodeURIComponent("-c role=gateway_sync")}`,
        GATEWAY_ADMIN_URLS: first.adminUrl,
        POSTGREST_URL: `http://127.0.0.1:${upstreamPort}`,
        GATEWAY_SYNC_PORT: String(port),
      },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) break;
    await sleep(50);
  }
  return {
    pid: child.pid ?? 0,
    close: async () => {
      child.kill("SIGTERM");
      await new Promise((resolve) => child.once("close", resolve));
    },
  };
}

let startedAt = performance.now();
let sync = await startSync();
const fill = (performance.now() - startedAt) / 1000;
say(`first fill of ${keyCount} keys: ${fill.toFixed(0)} s, ${(keyCount / fill).toFixed(0)} keys a second`);
say(`the sync at its peak, first fill: ${(await readStatus(sync.pid)).VmHWM} MB`);
await sync.close();
startedAt = performance.now();
sync = await startSync();
say(`start of a sync where nothing differs: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

// A reader on each node asks all the time, with keys that are there.
let isOver = false;
const waits: number[] = [];
const readers = [first, second].map(async ({ proxyUrl }) => {
  for (let number = 1; !isOver; number = (number % 1_000) + 1) {
    const askedAt = performance.now();
    await ask(proxyUrl, sampleKey(number));
    waits.push(performance.now() - askedAt);
  }
});
await sleep(2_000);
waits.length = 0;
const lags: number[] = [];
for (let turn = 0; turn < 20; turn += 1) {
  const key = randomBytes(24).toString("hex");
  // Both nodes have refused it a moment ago, and remember that.
  await Promise.all([first, second].map(({ proxyUrl }) => ask(proxyUrl, key)));
  const issuedAt = performance.now();
  await client.query(
    `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix)
     values ('individual', 'somebody@example.gov', sha256($1::text::bytea), 'measur')`,
    [key],
  );
  for (const { proxyUrl } of [first, second]) while ((await ask(proxyUrl, key)) !== 200) await sleep(10);
  lags.push(performance.now() - issuedAt);
  await sleep(100);
}
isOver = true;
await Promise.all(readers);
say(`each: ${lags.map((it) => it.toFixed(0)).join(", ")} ms`);
lags.sort((a, b) => a - b);
waits.sort((a, b) => a - b);
say(
  `a new key on both nodes, refused just before: median ${lags[10]?.toFixed(0)} ms, longest ${lags.at(-1)?.toFixed(0)} ms`,
);
say(
  `another reader meanwhile: 99 % ${waits[Math.floor(waits.length * 0.99)]?.toFixed(0)} ms, longest ${waits.at(-1)?.toFixed(0)} ms of ${waits.length} requests`,
);
say(`a worker of Kong: ${(await readWorkers(path.join(directory, "kong-1"))).join(", ")} MB`);
say(`the sync at its peak, comparison and changes: ${(await readStatus(sync.pid)).VmHWM} MB`);
await sync.close();

// A node that starts on the full database, with no sync at all.
startedAt = performance.now();
const third = await startNode("kong-3");
while ((await ask(third.proxyUrl, sampleKey(keyCount))) !== 200) await sleep(20);
say(`start with a full database until it serves: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

await client.end();
for (const child of children.reverse()) await child.stop(2_000);
upstream.close();
upstream.closeAllConnections();

async function ask(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/general`, { headers: { "x-api-key": key } }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status ?? 0;
}

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Megabytes that Kong's workers hold: the children of its master process. */
async function readWorkers(prefix: string): Promise<number[]> {
  const master = Number(await readFile(path.join(prefix, "pids/nginx.pid"), "utf8"));
  const children = await readFile(`/proc/${master}/task/${master}/children`, "utf8");
  const statuses = await Promise.all(
    children
      .trim()
      .split(/\s+/)
      .map((pid) => readStatus(Number(pid))),
  );
  return statuses.map(({ VmRSS }) => VmRSS);
}

async function readStatus(pid: number): Promise<{ VmRSS: number; VmHWM: number }> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  const read = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024);
  return { VmRSS: read("VmRSS"), VmHWM: read("VmHWM") };
}
