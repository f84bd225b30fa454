import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { usePublishedDatabase } from "../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../support/scratch-service.ts";

// The limit on the embedded rows of one response. Each of 1,000 reports has 240 kB of finding texts and 100 awards.

const database = usePublishedDatabase();
let service: ScratchService;

beforeAll(async () => {
  await database.client.query(`
    insert into disclosed.general (report_id, auditee_uei, is_public, auditee_name)
    select 'R' || n, 'UEI', true, 'Town ' || n from generate_series(1000, 1999) as n;
    insert into disclosed.findings_text (report_id, auditee_uei, finding_ref_number, finding_text, row_number)
    select 'R' || n, 'UEI', piece, repeat('x', 60000), row_number() over () from generate_series(1000, 1999) as n, generate_series(1, 4) as piece;
    insert into disclosed.federal_awards (report_id, auditee_uei, award_reference)
    select 'R' || n, 'UEI', piece from generate_series(1000, 1999) as n, generate_series(1, 100) as piece;
    insert into disclosed.findings (report_id, auditee_uei, award_reference, reference_number)
    select 'R' || n, 'UEI', piece, piece from generate_series(1000, 1999) as n, generate_series(1, 4) as piece;
    analyze disclosed.general, disclosed.findings_text, disclosed.federal_awards, disclosed.findings`);
  service = await startScratchService(database.url);
});
afterAll(() => service?.stop());

const get = (path: string, headers = {}) => service.request(path, { headers });

it.each<[path: string, headers?: Record<string, string>]>([
  ["/general?select=*,findings_text(*)"],
  ["/general?select=*,findings_text(*)", { accept: "text/csv" }],
  ["/general?select=report_id,federal_awards(award_reference)"],
  // Either embedding would pass on its own.
  ["/general?select=*,a:findings_text(*),b:findings_text(*)&limit=150"],
  ["/findings?select=*,findings_text(*,findings(*,findings_text(*)))"],
  ["/findings?select=*,general(*,federal_awards(*))"],
  ["/general?select=report_id,federal_awards!inner()&federal_awards.award_reference=gt.0"],
])("a request that embeds too many rows in lists is refused: %s %o", async (path, headers = {}) => {
  const { status, json } = await get(path, headers);
  expect({ status, code: json?.code }).toEqual({ status: 400, code: "embedded_rows_too_large" });
  expect(json.details).toContain("48 MB");
  expect(json.hint).toContain("Reduce limit");
});

describe("a request is answered", () => {
  const byName = "order=general(auditee_name),award_reference";
  it.each([
    // 45 MB, sent twice, because each request starts counting at zero.
    ["/general?select=*,findings_text(*)&limit=190", 190],
    ["/general?select=*,findings_text(*)&limit=190", 190],
    ["/general?select=*,findings_text(*)&findings_text.finding_ref_number=eq.none", 1000],
    ["/general?select=report_id,federal_awards(*)&federal_awards.limit=5", 1000],
    ["/general?select=report_id,federal_awards(*)&report_id=gt.R1990&order=report_id&limit=50", 9],
    // Embedded single rows do not count, whatever their size, even if rows are skipped or sorted.
    ["/findings_text?select=*,general(*)&limit=1200", 1200],
    ["/federal_awards?select=*,general(report_id)&offset=99995&order=report_id,award_reference", 5],
    [`/federal_awards?select=*,...general!inner(auditee_name)&${byName}&limit=5`, 5],
  ])("%s", async (path, rows) => {
    const { status, json } = await get(path);
    expect([status, json.length]).toEqual([200, rows]);
  });

  it("that requires an embedded single row, with an exact count", async () => {
    const path = "/federal_awards?select=report_id,general!inner()&general.auditee_name=neq.x&limit=1";
    const { status, headers } = await get(path, { prefer: "count=exact" });
    expect([status, headers["content-range"]]).toEqual([206, "0-0/100000"]);
  });
});

it("a request that selects a function of a row as if it were a column is refused", async () => {
  // Every function that PostgreSQL could call with one row of a view as its only argument, and that view.
  const { rows: functions } = await database.client.query<{ name: string; view: string }>(`
    select distinct proname as name, coalesce(relname, 'federal_awards') as view
    from pg_proc join pg_type on pg_type.oid = proargtypes[0] left join pg_class on pg_class.oid = typrelid
    where pronargs - pronargdefaults <= 1 and (typtype = 'p' or relnamespace = 'api_v1_1_0'::regnamespace)`);
  expect(functions).toContainEqual({ name: "to_jsonb", view: "federal_awards" });
  expect(functions).toContainEqual({ name: "findings", view: "findings_text" });
  const answered: string[] = [];
  for (const { name, view } of functions) {
    const parent = view === "general" ? "findings" : "general";
    for (const path of [`/${view}?select=${name}`, `/${parent}?select=report_id,${view}(${name})`]) {
      const { status, json } = await get(`${path}&limit=1`);
      if (status !== 400 || json.code !== "42703") answered.push(`${path}: ${status} ${json.code}`);
    }
  }
  expect(answered).toEqual([]);
});

/** Reads the memory of a process on this machine, in MiB. Returns 0 if the process has ended. */
async function readMemory(pid: number, field: "VmHWM" | "RssAnon"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) / 1024;
}

it("four large requests at a time stay within the memory rules of docs/operations.md", async () => {
  // The first is refused. The second and the third get the largest responses of their kind, below `heaviest` MB.
  const shapes = [
    "/general?select=*,findings_text(*)&order=auditee_name",
    "/general?select=*,findings_text(*)&limit=199",
    "/findings_text?select=*,general(*)&limit=800",
  ];
  const heaviest = 51;
  const backends = `select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  let [longest, ofBackend, isOver] = [0, 0, false];
  const watch = async () => {
    for (; !isOver; await sleep(20)) {
      const { rows } = await database.client.query(backends);
      const memory = await Promise.all(rows.map(({ pid }) => readMemory(pid, "RssAnon")));
      ofBackend = Math.max(ofBackend, ...memory);
    }
  };
  const watching = watch();
  for (const path of shapes) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => get(path)));
    longest = Math.max(longest, ...answers.map(({ text }) => text.length));
  }
  isOver = true;
  await watching;
  expect(longest).toBeLessThan(heaviest * 1e6);
  expect(ofBackend).toBeGreaterThan(heaviest);
  expect(ofBackend).toBeLessThan(16 + 4.5 * heaviest);
  expect(await readMemory(service.pid, "VmHWM")).toBeLessThan(64 + 4 * 5.5 * heaviest);
});
