import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { connect } from "../../../shared/connect.ts";
import { queryOn } from "../../support/query-on.ts";
import { request, target } from "../../support/target.ts";
import { useCopy } from "./support.ts";

// Deploys while clients read through the gateway of the shared stack, and restores its API at the end.

const copy = useCopy();
const keys: string[] = [];
const query = (sql: string) => queryOn<{ api_key: string }>(target.databaseUrl, sql);
/** Clears promises to clients, so that the next deployment may remove what is promised. */
const forgetPromises = () => query("truncate publication.promises");

beforeAll(async () => {
  // Several keys, so that none reaches its rate limit.
  const issued = await query(
    "select (access.issue_key('individual', 'load@example.gov', 'load test')).api_key from generate_series(1, 8)",
  );
  keys.push(...issued.map(({ api_key }) => api_key));
  const isServed = async (value: string) =>
    (await request("/general?limit=1", { key: { value } })).status === 200;
  for (const value of keys) await vi.waitFor(async () => expect(await isServed(value)).toBe(true), 60_000);
});
afterAll(async () => {
  await forgetPromises();
  await deployDatabase(target.databaseUrl);
  await query("select access.revoke_key(id) from access.api_keys where owner_email = 'load@example.gov'");
});

/** Watches pg_stat_activity, and returns the longest wait of a request for a lock, in milliseconds. */
async function watchWaits(signal: AbortSignal): Promise<number> {
  const client = await connect(target.databaseUrl, "test");
  let longest = 0;
  while (!signal.aborted) {
    const { rows } = await client.query(
      `select coalesce(max(extract(epoch from clock_timestamp() - state_change)), 0)::float * 1000 as wait from pg_stat_activity
       where wait_event_type = 'Lock' and application_name not in ('db-deploy', 'test') and datname = current_database()`,
    );
    longest = Math.max(longest, rows[0].wait);
    await sleep(3);
  }
  await client.end();
  return longest;
}

it("no request fails or waits longer than a deployment takes, and no ETag stands for two shapes of a view", async () => {
  await copy.addColumn();
  const stop = new AbortController();
  const failures: string[] = [];
  const shapes = new Map<string, Set<string>>();
  let [count, slowest] = [0, 0];
  const views = ["/additional_eins?limit=5", "/general?limit=5", "/additional_eins?limit=5"];
  const paths = [...views, "/findings?limit=5&select=*,general(auditee_name)", "/"];
  const read = async (worker: number) => {
    for (let turn = worker; !stop.signal.aborted; turn += 1) {
      const path = paths[turn % paths.length] ?? "/";
      const start = performance.now();
      const answer = await request(path, { key: { value: keys[turn % keys.length] ?? "" } });
      slowest = Math.max(slowest, performance.now() - start);
      count += 1;
      if (answer.status !== 200) failures.push(`${path} ${answer.status} ${answer.text}`);
      else if (path.startsWith("/additional_eins")) {
        const etag = String(answer.headers.etag);
        shapes.set(etag, (shapes.get(etag) ?? new Set()).add(Object.keys(answer.json[0]).join()));
      }
      await sleep(5);
    }
  };
  const workers = [0, 1, 2, 3].map(read);
  await sleep(1500);
  const waits = watchWaits(stop.signal);
  const durations: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    const options = round % 2 === 0 ? { directory: copy.directory } : {};
    await forgetPromises();
    const start = performance.now();
    expect((await deployDatabase(target.databaseUrl, {}, options)).apiSchemasChanged).toBe(true);
    durations.push(performance.now() - start);
    await sleep(250);
  }
  stop.abort();
  await Promise.all(workers);
  const longest = await waits;
  const [most, wait, deployment] = [slowest, longest, Math.max(...durations)].map(Math.round);
  process.stdout.write(
    `12 deployments under load: ${count} requests, slowest ${most} ms, longest wait for a lock ${wait} ms, longest deployment ${deployment} ms\n`,
  );
  expect(failures).toEqual([]);
  expect(count).toBeGreaterThan(200);
  expect(longest).toBeLessThan(Math.max(...durations));
  expect(new Set([...shapes.values()].flatMap((set) => [...set])).size).toBe(2);
  for (const shape of shapes.values()) expect(shape.size).toBe(1);
});
