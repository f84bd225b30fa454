import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { usePublishedDatabase } from "../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../support/scratch-service.ts";

// The order of rows that no `order` sorts, with the header that the gateway sends for filters. Each of 2,000 reports has four rows in each table, and the reports are in random
// order. The settings make the planner prefer what would return rows in another order.

const database = usePublishedDatabase();
const narratives = ["findings_text", "corrective_action_plans", "notes_to_sefa"];
const tables = [...narratives, "federal_awards"];

beforeAll(async () => {
  const { client } = database;
  await client.query(`
    insert into disclosed.general (report_id, auditee_uei, is_public, auditee_name)
    select 'R' || n, 'UEI', true, repeat('Town ' || n, 20) from generate_series(1000, 2999) as n;
    create temporary table parts as
    select (row_number() over (order by md5(n::text), md5(part::text)))::integer as number, 'R' || n as report_id, part::text as part, repeat('x', 300) || n || '-' || part as text
    from generate_series(1000, 2999) as n, generate_series(1, 4) as part order by number;
    insert into disclosed.findings_text (report_id, auditee_uei, finding_ref_number, finding_text, row_number)
    select report_id, 'UEI', '2023-001', text, number from parts;
    insert into disclosed.corrective_action_plans (report_id, auditee_uei, finding_ref_number, planned_action, row_number)
    select report_id, 'UEI', '2023-001', text, number from parts;
    insert into disclosed.notes_to_sefa (report_id, auditee_uei, title, content, row_number)
    select report_id, 'UEI', part, text, number from parts;
    insert into disclosed.federal_awards (report_id, auditee_uei, award_reference, federal_program_name, federal_agency_prefix)
    select report_id, 'UEI', part, text, case when part = '1' and report_id < 'R1700' then '93' else '10' end from parts`);
  for (const table of ["general", ...tables]) await client.query(`vacuum analyze disclosed.${table}`);
  await client.query("alter role authenticator password 'authenticator'");
});

const readTable = async (table: string, columns = "*", condition = "true") => {
  const rows = `select ${columns} from disclosed.${table} where ${condition} order by ctid`;
  const { rows: found } = await database.client.query(`select to_jsonb(r) as row from (${rows}) as r`);
  return found.map(({ row }) => row as Record<string, unknown>);
};

// PostgREST 16 forgets the settings of roles if it cannot read them, which PGRST_DB_CONFIG=false makes every version do.
describe.each([
  ["indexes, and PostgREST has read no settings", "-c seq_page_cost=1000", { PGRST_DB_CONFIG: "false" }],
  ["hash and merge joins", "-c enable_nestloop=off -c work_mem=64kB", {}],
])("if the planner prefers %s", (_what, settings, environment) => {
  let service: ScratchService;
  beforeAll(async () => {
    const url = Object.assign(new URL(database.url), {
      username: "authenticator",
      password: "authenticator",
    });
    url.search = `options=${encodeURIComponent(settings)}`;
    service = await startScratchService(url.href, environment);
  });
  afterAll(() => service?.stop());

  const read = async (path: string) => {
    const headers = { "x-row-order": "file" };
    const { status, json, text } = await service.request(path, { headers });
    expect(status, text.slice(0, 500)).toBe(200);
    return json as Record<string, unknown>[];
  };

  it.each(tables)("pages of the whole table %s are in the order of the file", async (table) => {
    const rows = [];
    for (const offset of [0, 3000, 6000])
      rows.push(...(await read(`/${table}?select=report_id&limit=3000&offset=${offset}`)));
    expect(rows).toEqual(await readTable(table, "report_id"));
  });

  it.each(tables)("pages of the whole table %s keep this order if they are counted", async (table) => {
    const path = `/${table}?select=report_id&limit=8000`;
    const { headers, json } = await service.request(path, { headers: { prefer: "count=exact" } });
    expect(headers["content-range"]).toBe("0-7999/8000");
    expect(json).toEqual(await readTable(table, "report_id"));
  });

  it.each(tables)("filtered pages of %s are in the order of the file", async (table) => {
    const filters = [
      ["report_id=gte.R2000", "report_id >= 'R2000'"],
      ["report_id=in.(R1900,R1100,R2500)", "report_id in ('R1900', 'R1100', 'R2500')"],
      ["auditee_uei=eq.UEI", "auditee_uei = 'UEI'"],
    ];
    for (const [filter, condition] of filters) {
      const expected = await readTable(table, "*", condition);
      const limit = expected.length / 4;
      const rows = [];
      for (let offset = 0; offset < expected.length; offset += limit)
        rows.push(...(await read(`/${table}?${filter}&limit=${limit}&offset=${offset}`)));
      expect(rows).toEqual(expected);
    }
  });

  it.each(tables)("rows of %s with their report are in the order of the file", async (table) => {
    const rows = await read(`/${table}?select=*,...general(name:auditee_name)`);
    expect(rows.map(({ name, ...row }) => row)).toEqual(await readTable(table));
    expect(rows.every(({ name }) => String(name).startsWith("Town "))).toBe(true);
  });

  it.each(tables)("rows of %s keep this order if a filter on the report finds them", async (table) => {
    const rows = await read(
      `/${table}?select=*,...general!inner(name:auditee_name)&general.auditee_name=like.Town*`,
    );
    expect(rows.map(({ name, ...row }) => row)).toEqual(await readTable(table));
  });
});

/** Runs request.authorize() with the settings of PostgREST's login, then explains a query. */
async function explain(table: string, sql: string, more: Record<string, string> = {}): Promise<string> {
  const { client } = database;
  const headers = { "x-api-key-sha256": createHash("sha256").update("DEMO_KEY").digest("hex"), ...more };
  await client.query("begin");
  await client.query(`select set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true)
     from pg_db_role_setting cross join unnest(setconfig) as setting where setrole = 'authenticator'::regrole`);
  await client.query(
    `select set_config('request.method', 'GET', true), set_config('request.path', $1, true),
     set_config('request.headers', $2, true), set_config('role', 'gateway', true)`,
    [`/${table}`, JSON.stringify(headers)],
  );
  await client.query("select request.authorize()");
  const { rows } = await client.query(`explain ${sql}`);
  await client.query("rollback");
  return JSON.stringify(rows);
}

it("a sorted page reads the index, not the whole table", async () => {
  const page = "select * from api_v1_1_0.findings_text order by report_id, row_number limit 100";
  expect(await explain("findings_text", page, { "x-row-order": "any" })).toMatch(/Index Scan using/);
});

it("a count without rows reads only an index, but no other query does", async () => {
  const count = "select count(*) from api_v1_1_0.federal_awards where report_id > 'R2000'";
  const read = (order?: string) => explain("federal_awards", count, order ? { "x-row-order": order } : {});
  expect(await read("any")).toContain("Index Only Scan");
  expect(await read("file")).not.toMatch(/Index (Only )?Scan using/);
  expect(await read()).not.toContain("Index Only Scan");
});

it("an embedded list is found by its report, not by its filters", async () => {
  const page = `select report_id from api_v1_1_0.general
    cross join lateral (
      select json_agg(found) as awards from (
        select amount_expended from api_v1_1_0.federal_awards(general) where federal_agency_prefix = '93' limit 20000
      ) as found
    ) as embedded
    where auditee_uei = 'UEI' and awards is not null limit 100`;
  const plan = await explain("general", page, { "x-row-order": "file" });
  expect(plan).toContain("federal_awards_key_is_unique");
  expect(plan).not.toContain("federal_awards_assistance_listing");
});
