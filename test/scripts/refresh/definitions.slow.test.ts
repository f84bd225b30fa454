import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readContracts } from "../../../scripts/deploy/contract.ts";
import { deployDatabase, repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { checkServed } from "../../../scripts/refresh/check-served.ts";
import { readDefinition, readSourceTables } from "../../../scripts/refresh/read-definition.ts";
import { connect } from "../../../shared/connect.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import { readAll, run } from "../deploy/support.ts";
import { useRefresh, withDefinitions } from "./support/refresh.ts";
import { id, type Row, submission, submissions, writeCsv } from "./support/source-files.ts";

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
    const walk = await service.request(`${page}&offset=1`, { headers: { "if-match": etag } });
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
      if (String(args[0]).includes("create or replace view dissemination"))
        answered.push((await service.request("/general?limit=1")).status);
      return await query(...args);
    });
    await here.rollBack().finally(() => spy.mockRestore());
    expect(answered).toContain(200);
  });

  it("updates each version's API description, as does a rollback, and a deployment keeps it", async () => {
    const describe = async () => {
      const [{ id, published }] = await select(
        `select id, to_char(published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published
         from dissemination.data_set`,
      );
      const { json } = await service.request("/");
      const [dataSet, ...others] = json.info.description.match(/Data set .*/g);
      expect([dataSet, others]).toEqual([`Data set ${id}, published ${published}.`, []]);
      const [admin] = await list("select obj_description('admin_api_v1_1_0'::regnamespace)");
      expect(admin).toContain(dataSet);
      return id;
    };
    await publishReports(1);
    const first = await describe();
    await publishReports(2);
    expect(await describe()).not.toBe(first);
    await here.rollBack();
    expect(await describe()).toBe(first);
    await select("delete from deployment.api_schemas");
    expect(await deployDatabase(database.url)).toMatchObject({ apiSchemasChanged: true });
    expect(await describe()).toBe(first);
  });

  it("waits for a deployment that rebuilds the API", () =>
    expectToWait("pg_advisory_lock", () => publishReports(1)));

  it("leaves requests switched off until an operator switches them on", async () => {
    const page = () => service.request("/general?select=report_id&limit=1");
    expect(await here.refresh("--requests", "off")).toMatchObject({ code: 0 });
    expect(await page()).toMatchObject({ status: 503, json: { code: "service_switched_off" } });
    await publishReports(1);
    expect((await page()).status).toBe(503);
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

type Edit = (sql: string) => string;

/** Publishes a public and a suppressed submission, with `edit` applied to the definition files in `names`. */
async function publish(edit?: Edit, more: Row = {}, names = ["staging.sql", "build.sql"]) {
  const edits = Object.fromEntries(names.flatMap((name) => (edit ? [[name, edit]] : [])));
  const rows = [submission(1, more), submission(2, { ...more, is_public: "f" })];
  await withDefinitions(edits, async () => {
    const staging = await readDefinition("staging.sql");
    for (const table of await readSourceTables()) {
      const [, body = ""] = staging.split(`create unlogged table staging.${table} (`);
      const columns = [...(body.split(");")[0] ?? "").matchAll(/(\w+) \w+/g)].map(([, name = ""]) => name);
      await writeCsv(here.directory, table, rows, { columns });
    }
    await here.load();
  });
}

// Each edit works on both staging.sql and build.sql: it changes the lines that it finds.
const addRegion =
  (type: string): Edit =>
  (text) =>
    text
      .replace("  auditee_uei text,\n", `  auditee_uei text,\n  auditee_region ${type},\n`)
      .replace("  source.auditee_uei,\n", "  source.auditee_uei,\n  source.auditee_region,\n");
const swapColumns: Edit = (text) =>
  text.replace(/^(.*\bauditee_name\b.*\n)(.*\bauditee_phone\b.*\n)/gm, "$2$1");
const addTable: Edit = (text) =>
  text.replace(
    "-- The only list of source tables",
    "create unlogged table staging.visits (report_id text, auditee_uei text, audit_year text, fac_accepted_date date, visited date);\n\n$&",
  );
/** Publishes with the table of `addTable`, which build.sql builds like every table of staging.sql. */
const publishVisits = () => publish(addTable, { visited: "2024-02-29" }, ["staging.sql"]);

/** Lists a table's columns whose names match the pattern, with their types. */
const findColumns = (table: string, pattern: string) =>
  list(
    `select attname || ' ' || format_type(atttypid, atttypmod) from pg_attribute
     where attrelid = to_regclass('dissemination.${table}') and attname ~ '${pattern}' order by attnum`,
  );
const ask = async () => {
  const { status, json } = await service.request("/general?order=report_id");
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
};

describe("a data set whose definitions differ from those of the live one", () => {
  it("may add, drop, reorder and retype columns that are not served; the API stays the same", async () => {
    const values = { auditee_name: "Town of Sample", auditee_phone: "5550100", auditee_region: "12" };
    await publish(undefined, values);
    const [api, rows] = [await readAll(database.url, ["api"]), await ask()];
    expect(rows[0]).toMatchObject({ auditee_name: "Town of Sample", auditee_phone: "5550100" });
    const check = async (columns: string[]) => {
      expect(await findColumns("general", "^auditee_(region|name|phone)$")).toEqual(columns);
      expect(await readAll(database.url, ["api"])).toEqual(api);
      const now = await ask();
      expect(now).toEqual(rows);
      expect(Object.keys(now[0])).toEqual(Object.keys(rows[0]));
    };
    const own = ["auditee_name text", "auditee_phone text"];
    let before = own;
    for (const [edit, columns] of [
      [addRegion("text"), ["auditee_region text", ...own]],
      [addRegion("integer"), ["auditee_region integer", ...own]],
      [swapColumns, own.toReversed()],
      [undefined, own],
    ] as const) {
      await publish(edit, values);
      await check([...columns]);
      await here.rollBack();
      await check(before);
      await here.rollBack();
      before = [...columns];
    }
    expect(await list("select to_regnamespace('dissemination_replaced')")).toEqual([null]);
  });

  it("may add a table: each role can read its rows at once, and a rollback removes the table", async () => {
    await publish();
    await publishVisits();
    const read = (role: string) =>
      select(`set role ${role}`)
        .then(() => list("select right(report_id, 1) || ' ' || visited from dissemination.visits order by 1"))
        .finally(() => select("reset role"));
    expect(await read("api_public")).toEqual(["1 2024-02-29"]);
    expect(await read("api_tribal")).toEqual(["1 2024-02-29", "2 2024-02-29"]);
    await here.rollBack();
    expect(await findColumns("visits", "visited")).toEqual([]);
    await here.rollBack();
    expect(await findColumns("visits", "visited")).toEqual(["visited date"]);
  });

  const unfit =
    "This data set does not fit the deployed API, so it did not go live.\n  api_v1_1_0.general serves general.";
  const dropTitle: Edit = (text) =>
    text.replace("  auditee_contact_title text,\n", "").replace("  source.auditee_contact_title,\n", "");
  const lacksTitle = `${unfit}auditee_contact_title, which this data set does not have.`;
  it.each<[what: string, edit: Edit, fault: string, also?: string[]]>([
    ["build.sql lacks a column of staging.sql", addRegion("text"), "is missing the column auditee_region"],
    ["it lacks a served column", dropTitle, lacksTitle, ["build.sql"]],
  ])("is refused if %s, and the live one stays", async (_what, edit, fault, also = []) => {
    await publish();
    const [live, rows] = [await here.liveId(), await ask()];
    await expect(publish(edit, {}, ["staging.sql", ...also])).rejects.toThrow(fault);
    expect([await here.liveId(), await ask()]).toEqual([live, rows]);
  });

  describe("with another type of a served column", () => {
    const threshold: Edit = (text) => text.replace("dollar_threshold bigint", "dollar_threshold text");
    const retype = () => publish(threshold, { dollar_threshold: "750000" }, ["staging.sql"]);
    const readThresholds = async () => (await ask()).map((row: Row) => row.dollar_threshold);
    const promise = (contracts: unknown[]) =>
      select("insert into publication.promises (contracts) values ($1)", [JSON.stringify(contracts)]);

    it("goes live without a deployment, and back again: the API and PostgREST follow", async () => {
      await publish(undefined, { dollar_threshold: "750000" });
      expect(await readThresholds()).toEqual([750000, null]);
      const api = await readAll(database.url, ["api"]);
      // A running request holds a share of this lock.
      await expectToWait("pg_advisory_lock_shared", retype);
      await expect.poll(readThresholds).toEqual(["750000", null]);
      // A filter on text fails if PostgREST still has the old types.
      const { status } = await service.request("/general?dollar_threshold=like.75*&select=report_id");
      expect(status).toBe(200);
      // A change by hand to the rebuilt API cannot be seen, so a deployment rebuilds the API again.
      await database.client.query(
        "create function api_v1_1_0.by_hand() returns integer language sql begin atomic select 1; end",
      );
      const deploy = () => run(runDeploy, [], { DATABASE_URL: database.url });
      expect((await deploy()).code).toBe(0);
      const { rows } = await database.client.query("select to_regproc('api_v1_1_0.by_hand') as found");
      expect(rows).toEqual([{ found: null }]);
      expect(await deploy()).toMatchObject({ code: 0, output: expect.stringContaining("Nothing to do.") });
      await here.rollBack();
      await expect.poll(readThresholds).toEqual([750000, null]);
      expect(await readAll(database.url, ["api"])).toEqual(api);
    });

    it("is refused if clients were promised the type, even under another name", async () => {
      await publish();
      const [live, rows] = [await here.liveId(), await ask()];
      const fault = `${unfit}dollar_threshold as bigint, but in this data set it is text. Clients were promised the type.`;
      await promise(await readContracts(repositoryDirectory));
      await expect(retype()).rejects.toThrow(fault);
      await expect(retype()).rejects.toThrow("\nCorrect db/data_set and refresh.");
      const views = { served: { select: [], columns: [{ name: "threshold", type: "BIGINT" }] } };
      await promise([{ schema: "api_v9", usage: [], views, functions: {}, types: {} }]);
      await select(
        "create schema api_v9; create view api_v9.served as select dollar_threshold as threshold from dissemination.general",
      );
      await expect(retype().finally(() => select("drop schema api_v9 cascade"))).rejects.toThrow(
        "api_v9.served serves general.dollar_threshold as bigint, but in this data set it is text. Clients were promised the type.",
      );
      await select("truncate publication.promises");
      expect([await here.liveId(), await ask()]).toEqual([live, rows]);
    });

    it("is refused if rebuilding the API would delete what was made by hand, or if a file does not fit", async () => {
      await publish();
      const live = await here.liveId();
      await select("create schema reporting; create view reporting.names as table api_v1_1_0.general");
      await expect(retype().finally(() => select("drop schema reporting cascade"))).rejects.toThrow(
        "made by hand: view reporting.names, which depends on the API",
      );
      await select(
        `insert into deployment.api_files select 999, 'api_v1_1_0', 'db/api/api_v1_1_0/zz.sql',
         'create function api_v1_1_0.over(integer) returns bigint language sql return (select min(dollar_threshold) from api_v1_1_0.general)'`,
      );
      await expect(
        retype().finally(() => select("delete from deployment.api_files where place = 999")),
      ).rejects.toThrow("db/api/api_v1_1_0/zz.sql does not fit this data set: return type mismatch");
      expect(await here.liveId()).toBe(live);
    });
  });

  const region = "general.auditee_region";
  it.each([
    ["column", () => publish(addRegion("text")), `${region} from dissemination.general`, region],
    ["table", publishVisits, "visits.visited from dissemination.visits", "the table visits"],
  ])(
    "is not rolled back to one without a %s that is now served",
    async (_what, publishMore, query, served) => {
      await publish();
      await publishMore();
      const live = await here.liveId();
      await select(
        `create schema api_v9; create view api_v9.served with (security_invoker = true) as select ${query}`,
      );
      await expect(here.rollBack().finally(() => select("drop schema api_v9 cascade"))).rejects.toThrow(
        `so it did not go live.\n  api_v9.served serves ${served}, which this data set does not have.\nCorrect db/data_set and refresh. Or deploy an API that fits the data set`,
      );
      expect(await here.liveId()).toBe(live);
      await here.rollBack();
      expect(await here.liveId()).not.toBe(live);
    },
  );

  it("is refused if an object outside the API reads columns that change; the error names it", async () => {
    await publish();
    const live = await here.liveId();
    await select(
      "create schema reporting; create view reporting.names as select auditee_name from dissemination.general",
    );
    await expect(
      publish(addRegion("text")).finally(() => select("drop schema reporting cascade")),
    ).rejects.toThrow(
      /Nothing has changed\. Drop the object first: view reporting\.names depends on view dissemination_replaced\.general/,
    );
    expect(await here.liveId()).toBe(live);
  });

  it("cannot inject SQL that runs as the owner of the API through column names", async () => {
    await publish();
    const name = '"x from y; drop schema access cascade; --"';
    await select("begin; set local role publisher");
    try {
      await select(
        `create schema dissemination_replaced;
         alter view dissemination.findings set schema dissemination_replaced;
         alter view dissemination_replaced.findings rename column award_reference to ${name};
         create view dissemination.findings as select *, award_reference as ${name} from disclosed.findings;
         grant usage on schema dissemination_replaced to api_owner;
         select publication.rebind_api_views();
         set local role none`,
      );
      const [view] = await select(
        `select to_regnamespace('access') is not null as is_whole, reloptions, pg_get_viewdef(oid) as definition
         from pg_class where oid = 'api_v1_1_0.findings'::regclass`,
      );
      expect(view).toMatchObject({ is_whole: true, reloptions: ["security_invoker=true"] });
      expect(view.definition).toContain(`${name} AS award_reference`);
    } finally {
      await select("rollback");
    }
  });
});

it("a column whose collation differs from the served one is found", async () => {
  const { client } = database;
  await client.query(
    `begin;
     create schema disclosed_next;
     do $$ declare name text; begin
       for name in select relname from pg_class where relnamespace = 'disclosed'::regnamespace and relkind in ('r', 'm') loop
         execute format('create table disclosed_next.%1$I (like disclosed.%1$I)', name);
       end loop;
     end $$;
     alter table disclosed_next.passthrough alter passthrough_name type text collate "POSIX"`,
  );
  const differs = await checkServed(client, "disclosed_next").finally(() => client.query("rollback"));
  expect(differs).toEqual([
    "api_v1_1_0.passthrough serves passthrough.passthrough_name, but in this data set its collation is different.",
  ]);
});
