import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deployDatabase } from "../scripts/deploy/deploy-database.ts";
import type { ChildProcess } from "../scripts/servers/child-process.ts";
import { findFreePort } from "../scripts/servers/find-free-port.ts";
import { startPostgres } from "../scripts/servers/postgres.ts";
import { locateKong, startKong } from "../scripts/stack/kong.ts";
import { prepareKongDatabase } from "../scripts/stack/kong-database.ts";
import { connect } from "../service/connect.ts";
import { at, summarize } from "./measure.ts";
import { listChildren, readMegabytes } from "./process-time.ts";

// What a hundred thousand keys cost on two nodes of real Kong that share a database:
//   KONG_BIN=/usr/local/bin/kong node --import tsx bench/measure-keys.ts DIRECTORY [KEYS]
// Both databases stay in DIRECTORY: the next run there starts with the keys of this one.

const [directory = "", count = "100000"] = process.argv.slice(2);
const keyCount = Number(count);
const rounds = 10;
const keysOfRound = 3;
const starts = 3;
const children: ChildProcess[] = [];
const keep = (child: ChildProcess) => void children.push(child);
const say = (line: string) => process.stdout.write(`${line}\n`);

const program = await locateKong(process.env.KONG_BIN);
await mkdir(directory, { recursive: true, mode: 0o711 });
const upstream = createServer((_request, response) => response.end("{}"));
await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const { port: upstreamPort } = upstream.address() as AddressInfo;
const databaseUrl = await startPostgres({
  directory,
  port: await findFreePort(),
  superuserPassword: "measured",
  keep,
  memory: 2048,
});
await deployDatabase(databaseUrl);
const client = await connect(databaseUrl, "bench");
await client.query("update access.tiers set requests_per_hour = 100000000, requests_per_day = null");
const sampleKey = (number: number) => `measured-${number}`;
const sampleKeys =
  "select md5('measured-' || number)::uuid as id, sha256(('measured-' || number)::bytea) as hash";
await client.query(
  `insert into access.api_keys (id, tier, owner_email, key_sha256, key_prefix)
   select id, 'individual', 'somebody@example.gov', hash, 'measur'
   from (${sampleKeys} from generate_series(1, $1) as number) as made
   on conflict do nothing`,
  [keyCount],
);
await client.query("vacuum analyze access.api_keys");
const kongUrl = await prepareKongDatabase(databaseUrl, randomBytes(16).toString("hex"));
const startNode = async (name: string, migrates = false) =>
  await startKong(
    {
      program,
      prefix: path.join(directory, name),
      port: await findFreePort(),
      adminPort: await findFreePort(),
      trustedIps: [],
      databaseUrl: kongUrl,
      migrates,
      secrets: { gatewayToken: "none" },
      environment: process.env,
    },
    keep,
  );
const first = await startNode("kong-1", true);
await fillKong();
const second = await startNode("kong-2");
const nodes = [first, second];
say(`the nodes are there, with ${keyCount} keys`);

let startedAt = performance.now();
const sync = await startSync();
say(
  `start of a sync where nothing differs: ${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${keyCount} keys`,
);

// A reader on each node asks all the time, with keys that are there; rounds with new keys and without alternate.
const waits: Record<"quiet" | "busy", number[][]> = { quiet: [], busy: [] };
let current: number[] = [];
let isOver = false;
const readers = nodes.map(async ({ proxyUrl }) => {
  for (let number = 1; !isOver; number = (number % 1_000) + 1) {
    const askedAt = performance.now();
    await ask(proxyUrl, sampleKey(number));
    current.push(performance.now() - askedAt);
  }
});
await sleep(2_000);
const lags: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  current = [];
  const begunAt = performance.now();
  for (let turn = 0; turn < keysOfRound; turn += 1) lags.push(await addKey());
  waits.busy.push(current);
  current = [];
  await sleep(performance.now() - begunAt);
  waits.quiet.push(current);
}
isOver = true;
await Promise.all(readers);
const describe = (values: number[]) => {
  const { median, max } = summarize(values);
  return `median ${median.toFixed(0)}, longest ${max.toFixed(0)} ms`;
};
say(`a new key on both nodes, which refused it just before: ${describe(lags)} of ${lags.length}`);
for (const [name, each] of Object.entries(waits)) {
  const longest = each.map((values) => Math.max(...values));
  const p99 = each.map((values) =>
    at(
      [...values].sort((a, b) => a - b),
      0.99,
    ),
  );
  say(
    `a reader's wait, ${rounds} rounds ${name === "busy" ? "with new keys" : "without"}: ` +
      `longest of a round ${describe(longest)}; 99 % ${describe(p99)}; ${each.flat().length} requests`,
  );
}
say(`workers of Kong: ${[...(await readWorkers("kong-1")), ...(await readWorkers("kong-2"))].join(", ")} MB`);
say(`the sync at its peak: ${readMegabytes(sync.pid).peak} MB`);
await sync.close();

// A node that starts on the full database, with no sync at all.
const served: number[] = [];
for (let turn = 0; turn < starts; turn += 1) {
  startedAt = performance.now();
  const { proxyUrl } = await startNode("kong-3");
  while ((await ask(proxyUrl, sampleKey(keyCount))) !== 200) await sleep(20);
  served.push(performance.now() - startedAt);
  await children.pop()?.stop(2_000);
}
say(`start with a full database until it serves: ${describe(served)}`);
say(`load ${loadavg().map((each) => each.toFixed(1))} (1, 5 and 15 minutes)`);

await client.end();
for (const child of children.reverse()) await child.stop(2_000);
upstream.close();
upstream.closeAllConnections();

/** Makes most keys as Kong does, since its Admin API would take a quarter of an hour; the sync finds nothing to mend. */
async function fillKong(): Promise<void> {
  const kong = await connect(kongUrl, "bench");
  try {
    await kong.query(
      `with made as (${sampleKeys} from generate_series(1, $1) as number),
         workspace as (select id from workspaces where name = 'default'),
         consumer as (
           insert into consumers (id, ws_id, username, custom_id, tags)
           select made.id, workspace.id, made.id::text, made.id::text, '{single-audit}'
           from made, workspace
           on conflict do nothing
           returning id
         )
       insert into keyauth_credentials (id, ws_id, consumer_id, key, tags)
       select made.id, workspace.id, consumer.id, encode(hash, 'hex'), '{single-audit}'
       from made join consumer using (id), workspace`,
      [keyCount],
    );
    await kong.query("vacuum analyze");
  } finally {
    await kong.end();
  }
}

/** The sync as it runs in production, in a process of its own; resolves when the node is as wanted. */
async function startSync() {
  const port = await findFreePort();
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

/** @returns milliseconds until both nodes, which have refused the key a moment ago and remember that, take it */
async function addKey(): Promise<number> {
  const key = randomBytes(24).toString("hex");
  await Promise.all(nodes.map(({ proxyUrl }) => ask(proxyUrl, key)));
  const issuedAt = performance.now();
  await client.query(
    `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix)
     values ('individual', 'somebody@example.gov', sha256($1::text::bytea), 'measur')`,
    [key],
  );
  for (const { proxyUrl } of nodes) while ((await ask(proxyUrl, key)) !== 200) await sleep(10);
  return performance.now() - issuedAt;
}

async function ask(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/general`, { headers: { "x-api-key": key } }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status ?? 0;
}

/** Megabytes that the workers of a node hold: the children of its master process. */
async function readWorkers(name: string): Promise<number[]> {
  const master = Number(await readFile(path.join(directory, name, "pids/nginx.pid"), "utf8"));
  return listChildren(master).map(({ pid }) => readMegabytes(pid).now);
}
