import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { connect } from "../../../shared/connect.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import { accepted, useRefresh } from "./support/refresh.ts";
import { id, listColumns, type Row, submission, submissions, writeCsv } from "./support/source-files.ts";

const here = useRefresh();
const { database, list, select } = here;
let service: ScratchService;

beforeAll(async () => {
  service = await startScratchService(database.url);
});
afterAll(() => service.stop());

describe("a publication", () => {
  async function publishReports(...numbers: number[]): Promise<void> {
    await here.write("general", submissions(...numbers));
    await here.load();
  }

  it("changes the ETag: paging with If-Match gets 412, and a cache gets the new rows", async () => {
    const page = "/general?select=report_id&limit=1";
    await publishReports(1, 2);
    const before = await service.request(page);
    expect(before.status).toBe(200);
    const etag = String(before.headers.etag);
    await publishReports(2, 1);
    const walk = await service.request(`${page}&offset=1`, { headers: { "x-if-match": etag } });
    expect([walk.status, walk.json.code]).toEqual([412, "data_set_changed"]);
    const cached = await service.request(page, { headers: { "if-none-match": etag } });
    expect(cached.status).toBe(200);
    expect(cached.json).not.toEqual(before.json);
    expect(cached.headers.etag).toBe(walk.headers.etag);
  });

  it("lets requests be answered until it replaces the views, when all that takes long is done", async () => {
    await publishReports(1);
    await publishReports(2);
    const query = database.client.query.bind(database.client) as (...args: unknown[]) => Promise<unknown>;
    const answered: number[] = [];
    const spy = vi.spyOn(database.client, "query").mockImplementation(async (...args: unknown[]) => {
      if (String(args[0]).includes("data_set.bind_views()"))
        answered.push((await service.request("/general?limit=1")).status);
      return await query(...args);
    });
    await here.rollBack().finally(() => spy.mockRestore());
    expect(answered).toContain(200);
  });

  it("waits for a deployment that rebuilds the API", () =>
    expectToWait("pg_advisory_lock", () => publishReports(1)));

  it("leaves requests switched off until an operator switches them on", async () => {
    const page = () => service.request("/general?select=report_id&limit=1");
    expect(await here.refresh("--requests", "off")).toMatchObject({ code: 0 });
    expect(await page()).toMatchObject({ status: 504, json: { code: "service_switched_off" } });
    await publishReports(1);
    expect((await page()).status).toBe(504);
    expect(await here.refresh("--requests", "on")).toMatchObject({ code: 0 });
    const { status, headers } = await page();
    expect(status).toBe(200);
    const [dataSet, published] = String(headers["data-set"]).split("; ");
    expect(dataSet).toBe(`"${await here.liveId()}"`);
    expect(published).toMatch(/^published="\d{4}-\d\d-\d\dT[\d:]{8}Z"$/);
  });
});

it("rows that embed a duplicate award are as many as they are counted to be", async () => {
  await here.write("general", submissions(1));
  const award = { report_id: id(1), award_reference: "AWARD-0001" };
  await here.write("federal_awards", [award, award]);
  const findings = ["2023-001", "2023-002"].map((reference_number) => ({ ...award, reference_number }));
  await here.write("findings", findings);
  expect(await here.publish("--accept-shrink", "--tolerate", "1")).toMatchObject({ code: 0 });
  const { json, headers } = await service.request(
    "/findings?select=reference_number,federal_awards(award_reference)",
    {
      headers: { prefer: "count=exact" },
    },
  );
  expect([json.length, headers["content-range"]]).toEqual([2, "0-1/2"]);
  for (const table of ["federal_awards", "findings"]) await here.write(table, []);
});

/** Holds a lock of the API while `publish` runs, which must wait for it. */
async function expectToWait(lock: string, publish: () => Promise<void>): Promise<void> {
  const other = await connect(database.url, "test");
  await other.query(`select ${lock}(hashtext('api_schemas'))`);
  const publishing = publish();
  const waiting =
    "select wait_event from pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
  await expect
    .poll(async () => (await other.query(waiting)).rows)
    .toHaveLength(1)
    .finally(() => other.end());
  await publishing;
}

/** Runs SQL as a deployment would, which also records the rights, while `db` stays as it is. */
const migrate = (sql: string) =>
  select(
    `begin; ${sql};
     insert into deployment.rights (fact, is_required) select fact, true from publication.find_rights() on conflict do nothing;
     commit`,
  );
const addColumn = () => migrate("select data_set.add_column('general', 'auditee_region', 'text')");
const ask = async () => {
  const { status, json } = await service.request("/general?order=report_id");
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
};
const readRegions = () => list("select auditee_region from dissemination.general order by report_id");
const withRegion = (rows: Row[]) =>
  writeCsv(here.directory, "general", rows, { columns: [...listColumns("general"), "auditee_region"] });

// The owner also reads the stub of the suppressed report.
describe("a column that a migration adds", () => {
  const [open, hidden] = [submission(1), submission(2, { is_public: "f" })];
  const region = { auditee_region: "12" };
  const publish = async () =>
    expect(await here.publish("--force", "--accept-shrink")).toMatchObject({ code: 0 });

  beforeAll(async () => {
    await here.write("general", [open, hidden]);
    await publish();
    await publish();
    await addColumn();
  });

  it("is null in the live and the previous data set, which a rollback restores", async () => {
    expect(await readRegions()).toEqual([null, null, null]);
    const rows = await ask();
    await here.rollBack();
    expect([await readRegions(), await ask()]).toEqual([[null, null, null], rows]);
    await here.rollBack();
  });

  it("does not refuse files without it, which the refresh names, until a published file had it", async () => {
    const { code, output } = await here.publish("--force", "--accept-shrink");
    expect([code, output]).toEqual([0, expect.stringContaining("no file has the column auditee_region yet")]);
    await withRegion([
      { ...open, ...region },
      { ...hidden, ...region },
    ]);
    await publish();
    expect(await readRegions()).toEqual(["12", "12", null]);
    await here.write("general", [open, hidden]);
    const refused = await here.publish("--force", "--accept-shrink");
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining("general.csv:1: missing columns auditee_region."),
    ]);
  });

  it("is in every table of the next data set, whichever of refresh and deployment ends first", async () => {
    let added: Promise<unknown> | undefined;
    await here.write("general", submissions(1, 2));
    await select("delete from data_set.awaited_columns");
    await withRegion([open]);
    await here.asPublisher(async () =>
      refreshDataSet(database.client, {
        ...accepted,
        from: here.directory,
        report: (line) => {
          // The tables are built and committed now.
          if (line === "Publishing ...")
            added ??= select(
              "reset role; begin; select data_set.add_column('findings', 'severity', 'text'); commit; set role publisher",
            );
        },
      }),
    );
    await added;
    expect(await list("select count(severity)::int from dissemination.findings")).toEqual([0]);
    const columns = (schema: string) => list(`select name from data_set.list_columns('${schema}.findings')`);
    for (const schema of ["suppressed", "disclosed_previous", "suppressed_previous"])
      expect(await columns(schema)).toEqual(await columns("disclosed"));
  });

  it("cannot be dropped while a version of the API reads it, and then is gone from every data set", async () => {
    await expect(migrate("select data_set.drop_column('general', 'auditee_city')")).rejects.toThrow(
      "api_v1_1_0.general still reads general.auditee_city. First deploy the API without the column",
    );
    await select("rollback");
    await migrate("select data_set.drop_column('general', 'auditee_region')");
    await select("delete from deployment.api_schemas");
    await deployDatabase(database.url);
    expect(await list("select name from data_set.list_columns('dissemination.general')")).toEqual(
      listColumns("general"),
    );
    await here.rollBack();
    await ask();
  });
});

describe("an index of indexes.sql", () => {
  it("is built on the live and the previous data set by a deployment, and again if it is not valid", async () => {
    const valid = () =>
      list(
        `select indexrelid::regclass::text || ' ' || indisvalid from pg_index
         where indexrelid::regclass::text like '%general_auditee_uei' order by 1`,
      );
    const both = ["disclosed.general_auditee_uei true", "disclosed_previous.general_auditee_uei true"];
    await select("drop index disclosed.general_auditee_uei, disclosed_previous.general_auditee_uei");
    const { indexes } = await deployDatabase(database.url, {}, { acceptsDrift: () => true });
    expect([indexes, await valid()]).toEqual([both.map((line) => line.split(" ")[0]), both]);
    await select(
      "update pg_index set indisvalid = false where indexrelid = 'disclosed.general_auditee_uei'::regclass",
    );
    await deployDatabase(database.url, {}, { acceptsDrift: () => true });
    expect(await valid()).toEqual(both);
  });

  it("that someone made by hand is not in the next data set", async () => {
    await here.write("general", submissions(1));
    await select("create index by_hand on disclosed.general (auditee_zip)");
    expect(await here.publish("--force", "--accept-shrink")).toMatchObject({ code: 0 });
    expect(await list("select to_regclass('disclosed.by_hand')")).toEqual([null]);
  });
});

it("a table that a migration adds is built, is read by each role, and is in the previous data set", async () => {
  await migrate(
    `create table disclosed.visits (report_id text, auditee_uei text, audit_year text, fac_accepted_date date, visited date, row_number integer);
     select data_set.add_table('visits', is_source => true)`,
  );
  await here.write("general", [submission(1), submission(2, { is_public: "f" })]);
  const visits = [1, 2].map((number) => ({ report_id: id(number), visited: "2024-02-29" }));
  await writeCsv(here.directory, "visits", visits, { columns: ["report_id", "visited"] });
  expect(await here.publish("--accept-shrink")).toMatchObject({ code: 0 });
  const read = (role: string) =>
    select(`set role ${role}`)
      .then(() => list("select right(report_id, 1) || ' ' || visited from dissemination.visits order by 1"))
      .finally(() => select("reset role"));
  expect(await read("api_public")).toEqual(["1 2024-02-29"]);
  expect(await read("api_tribal")).toEqual(["1 2024-02-29", "2 2024-02-29"]);
  await here.rollBack();
  expect(await read("api_tribal")).toEqual([]);
});
