import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { definitionsDirectory, readSourceTables } from "../../../scripts/refresh/read-definition.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import { findKeyId, readApiCatalog } from "../deploy/support.ts";
import { makeDirectory, type Row, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let service: ScratchService;
let work: Awaited<ReturnType<typeof makeDirectory>>;
let definitions: string;
let key: string;

beforeAll(async () => {
  service = await startScratchService(database.url);
  work = await makeDirectory();
  definitions = path.join(work.directory, "data_set");
  await cp(definitionsDirectory, definitions, { recursive: true });
  key = await findKeyId(database.url);
});
afterAll(async () => {
  await service.stop();
  await work.remove();
});

const asPublisher = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  await database.client.query("set role publisher");
  return await run().finally(() => database.client.query("reset role"));
};

/** Publishes two submissions, of which one is suppressed, by definitions that differ from the project's own. */
async function publish(
  edit: (definition: string) => string = (text) => text,
  more: Row = {},
  report: (line: string) => void = () => {},
  names = ["staging.sql", "build.sql"],
): Promise<void> {
  for (const name of ["staging.sql", "build.sql"]) {
    const own = await readFile(path.join(definitionsDirectory, name), "utf8");
    await writeFile(path.join(definitions, name), names.includes(name) ? edit(own) : own);
  }
  const directory = path.join(work.directory, "csv");
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  const rows = [submission(1, more), submission(2, { ...more, is_public: "f" })];
  const staging = await readFile(path.join(definitions, "staging.sql"), "utf8");
  for (const table of await readSourceTables(definitions)) {
    const [, body = ""] = staging.split(`create unlogged table staging.${table} (`);
    const [columns = ""] = body.split(");");
    await writeCsv(directory, table, rows, {
      columns: [...columns.matchAll(/(\w+) \w+/g)].map(([, name = ""]) => name),
    });
  }
  const files = await findFiles(directory, definitions);
  await asPublisher(() => loadDataSet(database.client, { source: "test", files }, { definitions, report }));
}
const goBack = () => asPublisher(() => rollBack(database.client, definitions));

// Each changes what it finds in staging.sql and in build.sql.
const addCounty = (type: string) => (text: string) =>
  text
    .replace("  auditee_uei text,\n", `  auditee_uei text,\n  auditee_county ${type},\n`)
    .replace("  source.auditee_uei,\n", "  source.auditee_uei,\n  source.auditee_county,\n");
const addTable = (text: string) =>
  text
    .replace(
      "-- The one list of source tables",
      "create unlogged table staging.visits (report_id text, auditee_uei text, visited date);\n\n$&",
    )
    .replace("-- Which data set this is", `${visits}\n$&`);
const visits = [
  ["disclosed_next", "public_reports"],
  ["suppressed_next", "suppressed_reports"],
]
  .map(
    ([schema, side]) =>
      `create table ${schema}.visits as select report_id, auditee_uei, visited from staging.visits
       where report_id in (select report_id from staging.${side});`,
  )
  .concat(
    "alter table suppressed_next.visits enable row level security;",
    "create policy tribal_access on suppressed_next.visits for select to api_tribal using (true);",
  )
  .join("\n");

const findType = async (column = "auditee_county", table = "general"): Promise<string | undefined> =>
  (
    await database.client.query(
      `select format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = to_regclass($1) and attname = $2`,
      [`dissemination.${table}`, column],
    )
  ).rows[0]?.type;
const findDataSet = async () =>
  (await database.client.query("select id from dissemination.data_set")).rows[0].id;
const ask = async (request = "/general?order=report_id") => {
  const { status, json } = await service.request(request, key);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
};

/** A version of the API that serves what the project's own does not. */
async function serve(view: string): Promise<() => Promise<unknown>> {
  await database.client.query(`create schema api_v9; create view api_v9.${view}`);
  return () => database.client.query("drop schema api_v9 cascade");
}

describe("a data set by other definitions than the live one", () => {
  it("may have a column more, less, or of another type; the API that does not serve it stays as it is", async () => {
    const values = { auditee_name: "Town of Sample", auditee_county: "12" };
    await publish(undefined, values);
    const [api, rows] = [await readApiCatalog(database.url), await ask()];
    const check = async (type: string | undefined) => {
      expect(await findType()).toBe(type);
      expect(await readApiCatalog(database.url)).toBe(api);
      const now = await ask();
      expect(now).toEqual(rows);
      expect(Object.keys(now[0])).toEqual(Object.keys(rows[0]));
    };
    let before: string | undefined;
    for (const type of ["text", "integer", undefined]) {
      await publish(type === undefined ? undefined : addCounty(type), values);
      await check(type);
      await goBack();
      await check(before);
      await goBack();
      await check(type);
      before = type;
    }
    const { rows: left } = await database.client.query(
      "select nspname from pg_namespace where nspname = 'dissemination_replaced'",
    );
    expect(left).toEqual([]);
  });

  it.each([
    ["column", addCounty("text"), "disclosed_next.general lacks the column auditee_county"],
    ["table", addTable, "disclosed_next.visits lacks the column report_id"],
  ])("is refused where build.sql leaves out a %s of staging.sql", async (_what, edit, missing) => {
    await publish();
    const live = await findDataSet();
    await expect(publish(edit, {}, () => {}, ["staging.sql"])).rejects.toThrow(missing);
    expect(await findDataSet()).toBe(live);
  });

  it("may have its columns in another order; the API keeps its own", async () => {
    const values = { auditee_name: "Town of Sample", auditee_phone: "5550100" };
    await publish(undefined, values);
    const rows = await ask();
    await publish(
      (text) =>
        text
          .replace(
            "  auditee_name text,\n  auditee_phone text,",
            "  auditee_phone text,\n  auditee_name text,",
          )
          .replace(
            "  source.auditee_name,\n  source.auditee_phone,",
            "  source.auditee_phone,\n  source.auditee_name,",
          ),
      values,
    );
    const now = await ask();
    expect(now[0]).toMatchObject(values);
    expect(Object.keys(now[0])).toEqual(Object.keys(rows[0]));
    const { rows: sample } = await database.client.query(
      `select array_agg(attname::text order by attnum) as names from pg_attribute
       where attrelid = 'dissemination.general'::regclass and attname in ('auditee_name', 'auditee_phone')`,
    );
    expect(sample).toEqual([{ names: ["auditee_phone", "auditee_name"] }]);
    await goBack();
    expect(await ask()).toEqual(rows);
  });

  it("may have a table more: readable at once, for whom its rows are, and gone after a rollback", async () => {
    await publish();
    await publish(addTable, { visited: "2024-02-29" });
    const read = async (role: string) => {
      await database.client.query(`set role ${role}`);
      return (
        await database.client
          .query("select report_id, visited::text from dissemination.visits order by 1")
          .finally(() => database.client.query("reset role"))
      ).rows;
    };
    const [open, hidden] = [submission(1).report_id, submission(2).report_id];
    expect(await read("api_public")).toEqual([{ report_id: open, visited: "2024-02-29" }]);
    expect((await read("api_tribal")).map(({ report_id }) => report_id)).toEqual([open, hidden]);
    await goBack();
    expect(await findType("visited", "visits")).toBeUndefined();
    await goBack();
    expect(await findType("visited", "visits")).toBe("date");
  });

  it.each([
    {
      change: "lacks a column that is served",
      edit: (text: string) =>
        text.replace("  auditee_contact_title text,\n", "").replace("  source.auditee_contact_title,\n", ""),
      fault: "api_v1_1_0.general serves general.auditee_contact_title, which this data set does not have.",
    },
    {
      change: "has it with another type",
      edit: (text: string) => text.replace("dollar_threshold bigint", "dollar_threshold text"),
      fault: "api_v1_1_0.general serves general.dollar_threshold as bigint, and in this data set it is text.",
    },
  ])("is refused with a sentence where it $change, and the live one goes on", async ({ edit, fault }) => {
    await publish();
    const [live, rows] = [await findDataSet(), await ask()];
    await expect(publish(edit)).rejects.toThrow(
      `This data set does not fit the API as it is deployed. Nothing has changed.\n  ${fault}\nPut it back in db/data_set`,
    );
    expect([await findDataSet(), await ask()]).toEqual([live, rows]);
  });

  it.each([
    {
      what: "column",
      edit: addCounty("text"),
      view: "counties with (security_invoker = true) as select general.auditee_county from dissemination.general",
      fault: "api_v9.counties serves general.auditee_county, which this data set does not have.",
    },
    {
      what: "table",
      edit: addTable,
      view: "visits with (security_invoker = true) as select visits.visited from dissemination.visits",
      fault: "api_v9.visits serves the table visits, which this data set does not have.",
    },
  ])(
    "is not rolled back to one without a $what that is served since, until the API is without it",
    async ({ edit, view, fault }) => {
      await publish();
      await publish(edit);
      const live = await findDataSet();
      const takeBack = await serve(view);
      try {
        await expect(goBack()).rejects.toThrow(
          `Nothing has changed.\n  ${fault}\nDeploy an API without it first`,
        );
        expect(await findDataSet()).toBe(live);
      } finally {
        await takeBack();
      }
      await goBack();
      expect(await findDataSet()).not.toBe(live);
    },
  );

  it("is refused where columns change that something beside the API reads, which it names", async () => {
    await publish();
    const live = await findDataSet();
    await database.client.query(
      "create schema reporting; create view reporting.names as select auditee_name from dissemination.general",
    );
    try {
      await expect(publish(addCounty("text"))).rejects.toThrow(
        /Nothing has changed\. Drop it first: view reporting\.names depends on view dissemination_replaced\.general/,
      );
      expect(await findDataSet()).toBe(live);
    } finally {
      await database.client.query("drop schema reporting cascade");
    }
  });

  it("runs no text of the publisher as the owner of the API, whatever its columns are called", async () => {
    await publish();
    const api = await readApiCatalog(database.url);
    await database.client.query("begin; set local role publisher");
    try {
      await database.client.query(
        `create schema dissemination_replaced;
         alter view dissemination.findings set schema dissemination_replaced;
         alter view dissemination_replaced.findings rename column award_reference to "x from y; drop schema access cascade; --";
         create view dissemination.findings as
         select *, award_reference as "x from y; drop schema access cascade; --" from disclosed.findings`,
      );
      await database.client.query(
        `do $$ begin
           execute format('grant usage on schema dissemination_replaced to %s',
             (select proowner::regrole from pg_proc where oid = 'publication.rebind_api_views()'::regprocedure));
         end $$;
         select publication.rebind_api_views()`,
      );
      await database.client.query("set local role none");
      const { rows } = await database.client.query(
        `select to_regnamespace('access') is not null as is_whole, reloptions, pg_get_viewdef(oid) as definition
         from pg_class where oid = 'api_v1_1_0.findings'::regclass`,
      );
      expect(rows[0]).toMatchObject({ is_whole: true, reloptions: ["security_invoker=true"] });
      expect(rows[0].definition).toContain('"x from y; drop schema access cascade; --" AS award_reference');
    } finally {
      await database.client.query("rollback");
    }
    expect(await readApiCatalog(database.url)).toBe(api);
  });
});
