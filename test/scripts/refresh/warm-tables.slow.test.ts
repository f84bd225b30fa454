import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { warmTables } from "../../../scripts/refresh/warm-tables.ts";
import { connect } from "../../../shared/connect.ts";
import type { RunningStack } from "../../support/run-stack.ts";
import { runSeparateStack } from "../../support/small-sample.ts";

let stack: RunningStack;
let client: Client;

beforeAll(async () => {
  // 40% of it becomes shared_buffers: 102 MB.
  stack = await runSeparateStack({ DATABASE_MEMORY: "256" });
  client = await connect(stack.facts.database_url, "test");
  await client.query("set max_parallel_workers_per_gather = 0");
});
afterAll(async () => {
  await client?.end();
  await stack?.dispose();
});

/** Creates a table of about `size` megabytes. */
async function makeTable(name: string, size: number): Promise<void> {
  const rows = `generate_series(1, ${size * 1000})`;
  await client.query(`create table disclosed.${name} as select repeat('x', 1000) as text from ${rows}`);
  await client.query(`vacuum (freeze) disclosed.${name}`);
}
/** Scans a table, and returns how many pages were not in shared_buffers. */
async function countReads(name: string): Promise<number> {
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) select text from disclosed.${name}`,
  );
  return rows[0]["QUERY PLAN"][0].Plan["Shared Read Blocks"];
}

it("caches the largest table that fits in shared_buffers, unlike scans, and names tables that do not fit", async () => {
  await makeTable("awards", 68);
  await countReads("awards");
  expect(await countReads("awards")).toBeGreaterThan(500);
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  await warmTables(client, report);
  expect(lines).toEqual([]);
  expect(await countReads("awards")).toBe(0);

  await makeTable("larger", 170);
  await makeTable("more", 42);
  await warmTables(client, report);
  expect(lines).toEqual([
    expect.stringMatching(
      /^The table larger \(\d+ MB\) does not fit into PostgreSQL's shared_buffers \(\d+ MB\)/,
    ),
    expect.stringMatching(/^The table more \(\d+ MB\) does not fit/),
  ]);
  // The table has about 9,700 pages.
  expect(await countReads("awards")).toBeLessThan(200);
});
