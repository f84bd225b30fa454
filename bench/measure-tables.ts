import { readFile } from "node:fs/promises";
import path from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { to as copyTo } from "pg-copy-streams";
import { readCpuTime } from "../test/support/read-cpu-time.ts";
import type { BenchStack } from "./bench-stack.ts";
import { ask, measureCost, sum } from "./measure.ts";
import type { BarePostgrest, Gateways } from "./measure-lookups.ts";
import type { Table } from "./results.ts";

const pageRows = 20_000;

/** Compares ways to read a whole table: pages of the API, bulk files, and what PostgreSQL and DuckDB need at least. */
export async function measureTables(
  stack: BenchStack,
  bare: BarePostgrest,
  { gateways, turns }: { gateways: Gateways; turns: number },
): Promise<Table> {
  const { facts, client, keys, directory } = stack;
  const { rows } = await client.query("select count(*)::integer as count from disclosed.federal_awards");
  const total: number = rows[0].count;
  const [key = ""] = keys;
  const withKey = { "x-api-key": key };
  const nextPage = choosePages(total);
  const kept = nextPage();
  const stackTimes = () => readCpuTime(facts.pid);
  const more = (readTime: () => number) => () => ({ ...stackTimes(), other: readTime() });
  const withBare = more(bare.readTime);
  const withKong = more(gateways.readTime);
  const kong = gateways.list.find(({ isOwn }) => isOwn);
  const here = () => ({ here: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000 });
  const oneRead = (sql: string) => async () => {
    const stream = client.query(copyTo(sql));
    await pipeline(stream, new Writable({ write: (_chunk, _encoding, done) => done() }));
  };
  const duck = await openDuckdb(path.join(directory, "public-data"));
  const aggregate = "select federal_agency_prefix, sum(amount_expended) from awards group by all";
  const first = `(select * from disclosed.federal_awards limit ${5 * pageRows})`;
  const arms: [arm: string, rows: number, readTimes: () => Record<string, number>, () => Promise<unknown>][] =
    [
      [
        "API, pages of 20,000 rows, JSON",
        pageRows,
        stackTimes,
        () => ask(`${facts.base_url}/${nextPage()}`, withKey),
      ],
      [
        "the same, CSV",
        pageRows,
        stackTimes,
        () => ask(`${facts.base_url}/${nextPage()}`, { ...withKey, accept: "text/csv" }),
      ],
    ];
  if (kong) {
    arms.push(
      ["Kong, JSON", pageRows, withKong, () => ask(`${kong.url}/${nextPage()}`, withKey)],
      ["Kong, page kept", pageRows, withKong, () => ask(`${kong.url}/${kept}`, withKey)],
    );
  }
  arms.push(
    ["PostgREST alone", pageRows, withBare, () => ask(`${bare.url}/${nextPage()}`, bare.headers)],
    [
      "`json_agg` in PostgreSQL",
      5 * pageRows,
      stackTimes,
      () => client.query(`select length(json_agg(t)::text) from ${first} t`),
    ],
    ["`COPY` to CSV", total, stackTimes, oneRead("copy disclosed.federal_awards to stdout (format csv)")],
    [
      "bulk file, `.csv.gz`",
      total,
      stackTimes,
      () => ask(`${facts.app_url}/public-data/federal_awards.csv.gz`),
    ],
    [
      "bulk file, `.parquet`",
      total,
      stackTimes,
      () => ask(`${facts.app_url}/public-data/federal_awards.parquet`),
    ],
    ["DuckDB sums the amounts of each agency, `.parquet`", total, here, () => duck.run("parquet", aggregate)],
    ["DuckDB, `.csv.gz`", total, here, () => duck.run("csv", aggregate)],
    [
      "the same sums, SQL in PostgreSQL",
      total,
      stackTimes,
      () =>
        client.query(
          "select federal_agency_prefix, sum(amount_expended) from disclosed.federal_awards group by 1",
        ),
    ],
  );
  const results: Table["rows"] = {};
  for (const [arm, count, readTimes, send] of arms) {
    const cost = await measureCost(readTimes, Math.min(turns, count === total ? 1 : 5), send);
    results[arm] = describeCost(cost, count);
  }
  duck.close();
  process.stderr.write("Measured: the whole of federal_awards.\n");
  return {
    title: "The whole of federal_awards",
    text: "CPU time in s for a million rows. The limits are `COPY` and a file.",
    rows: results,
  };
}

/** Measures pages of the common design, which `bare` serves. */
export async function measureCommonTable(
  { facts, client }: BenchStack,
  bare: BarePostgrest,
  turns: number,
): Promise<Table["rows"]> {
  const { rows } = await client.query("select count(*)::integer as count from common.federal_awards");
  const nextPage = choosePages(rows[0].count);
  const readTimes = () => ({ PostgreSQL: readCpuTime(facts.pid).PostgreSQL, other: bare.readTime() });
  const headers = { ...bare.headers, "accept-profile": "common_api" };
  const cost = await measureCost(readTimes, turns, () => ask(`${bare.url}/${nextPage()}`, headers));
  return { "common design, pages of 20,000 rows": describeCost(cost, pageRows) };
}

/** Chooses pages that are spread over the table, each for the first time, because later pages may take longer. */
function choosePages(total: number): () => string {
  const pages = Math.max(1, Math.floor(total / pageRows));
  const step = Math.max(1, Math.floor(pages * 0.382));
  let page = 0;
  return () => {
    page = (page + step) % pages;
    return `federal_awards?limit=${pageRows}&offset=${page * pageRows}`;
  };
}

function describeCost(cost: Record<string, number>, count: number): Record<string, number> {
  const scale = 1000 / count;
  const parts = Object.entries(cost).filter(([name, value]) => name !== "here" && value > 0.5);
  return {
    all: sum(cost) * scale,
    ...Object.fromEntries(parts.map(([name, value]) => [name, value * scale])),
  };
}

/** Runs queries over the bulk file of federal_awards, with one thread. */
async function openDuckdb(publicData: string) {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const { data_set } = JSON.parse(await readFile(path.join(publicData, "manifest.json"), "utf8"));
  const file = (format: string) => path.join(publicData, data_set, `federal_awards.${format}`);
  const database = await DuckDBInstance.create(":memory:", {
    threads: "1",
    autoinstall_known_extensions: "false",
  });
  const connection = await database.connect();
  const sources: Record<string, string> = {
    parquet: `read_parquet('${file("parquet")}')`,
    csv: `read_csv('${file("csv.gz")}', all_varchar = true)`,
  };
  return {
    run: (format: string, query: string) => {
      const awards = query.replace("from awards", `from ${sources[format]}`);
      const typed =
        format === "csv" ? awards.replace("(amount_expended)", "(amount_expended::bigint)") : awards;
      return connection.runAndReadAll(typed);
    },
    close: () => {
      connection.closeSync();
      database.closeSync();
    },
  };
}
