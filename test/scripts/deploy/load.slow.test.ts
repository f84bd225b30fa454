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

/**
 * Watches the locks that requests wait for. Returns, by wait, the application names and sessions that hold them.
 * Autovacuum is left out: it truncates catalogs, and yields to sessions that wait for its lock (PostgreSQL: Routine Vacuuming).
 */
async function watchWaits(signal: AbortSignal): Promise<Map<string, Set<string>>> {
  const client = await connect(target.databaseUrl, "test");
  const waits = new Map<string, Set<string>>();
  while (!signal.aborted) {
    const { rows } = await client.query<{ wait: string; blocker: string }>(
      `select concat(waiting.pid, ' ', waiting.state_change) as wait, concat(holding.application_name, ' ', holding.pid) as blocker
       from pg_stat_activity as waiting
       cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
       join pg_stat_activity as holding on holding.pid = blocking.pid and holding.backend_type <> 'autovacuum worker'
       where waiting.wait_event_type = 'Lock' and waiting.application_name not in ('db-deploy', 'test')
         and waiting.datname = current_database()`,
    );
    for (const { wait, blocker } of rows) waits.set(wait, (waits.get(wait) ?? new Set()).add(blocker));
    await sleep(3);
  }
  await client.end();
  return waits;
}

it("no request fails or waits for more than one deployment, and no ETag stands for two shapes of a view", async () => {
  await copy.addColumn();
  const stop = new AbortController();
  const failures: string[] = [];
  const shapes = new Map<string, Set<string>>();
  let count = 0;
  const views = ["/additional_eins?limit=5", "/general?limit=5", "/additional_eins?limit=5"];
  const paths = [...views, "/findings?limit=5&select=*,general(auditee_name)", "/"];
  const read = async (worker: number) => {
    for (let turn = worker; !stop.signal.aborted; turn += 1) {
      const path = paths[turn % paths.length] ?? "/";
      const answer = await request(path, { key: { value: keys[turn % keys.length] ?? "" } });
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
  for (let round = 0; round < 12; round += 1) {
    const options = round % 2 === 0 ? { directory: copy.directory } : {};
    await forgetPromises();
    expect((await deployDatabase(target.databaseUrl, {}, options)).apiSchemasChanged).toBe(true);
    await sleep(250);
  }
  stop.abort();
  await Promise.all(workers);
  expect(failures).toEqual([]);
  expect(count).toBeGreaterThan(200);
  for (const blockers of (await waits).values())
    expect([...blockers]).toEqual([expect.stringMatching(/^db-deploy /)]);
  expect(new Set([...shapes.values()].flatMap((set) => [...set])).size).toBe(2);
  for (const shape of shapes.values()) expect(shape.size).toBe(1);
});
