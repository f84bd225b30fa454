import { readFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { readDefinition } from "../../../scripts/refresh/read-definition.ts";
import { type Edits, useRefresh, withDefinitions } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

// Errors in db/data_set are reported as precisely as errors in source files, and suppressed rows stay suppressed.

const here = useRefresh();
const readLive = () =>
  here.select("select id, to_regnamespace('staging') as left from dissemination.data_set");

beforeAll(async () => {
  await here.write("general", [submission(1), submission(2, { is_public: "f" })]);
  await here.write("findings", [{ report_id: id(2) }]);
});

/** Loads with edited files of db/data_set, which must fail without changing the live data set. Returns the error. */
async function failWith(edits: Edits): Promise<string> {
  const live = await readLive();
  const message = await withDefinitions(edits, here.load).then(() => "It was published.", explainFailure);
  expect(await readLive()).toEqual(live);
  return message;
}

it.each(["session", "staging", "reject_rows", "build", "totals", "publish", "go_live"])(
  "an error in %s.sql is reported with its file, line and column",
  async (name) => {
    const line = (await readDefinition(`${name}.sql`)).split("\n").length;
    const message = await failWith({ [`${name}.sql`]: (sql) => `${sql}select 1, nosuch;\n` });
    expect(message).toContain(`db/data_set/${name}.sql:${line}:11: column "nosuch" does not exist\n`);
  },
);

// PostgreSQL reports no position in the file for these errors.
it.each([
  ["do $$ begin execute format('select %s', 'nosuch'); end $$;", 'column "nosuch" does not exist'],
  ["commit;", "EXECUTE of transaction commands"],
  ["create view api_v1_1_0.extra as select 1;", "permission denied for schema api_v1_1_0"],
  ["reset role;", "the file leaves the role changed from publisher to postgres"],
])("a run-time error is reported with its file: %s", async (added, expected) => {
  const message = await failWith({ "build.sql": (sql) => `${sql}${added}\n` });
  expect(message).toContain(`db/data_set/build.sql: ${expected}`);
});

it("bulk files have ISO dates, whatever settings a SQL file changes", async () => {
  const edit = (sql: string) => `${sql}set datestyle = 'German';\n`;
  await withDefinitions({ "totals.sql": edit }, here.publish);
  const file = path.join(here.publicData, await here.liveId(), "general.csv.gz");
  expect(gunzipSync(await readFile(file)).toString()).toContain(`,${submission(1).fac_accepted_date},`);
});

it.each([
  ["53100", "PostgreSQL's disk is full: RAISED. Nothing was published.", "three data sets"],
  ["57P01", "PostgreSQL was stopped, or the connection to it was lost: RAISED.", "--status"],
])("a server failure (%s) is reported with what to do next", async (code, fault, advice) => {
  const raise = `do $$ begin raise sqlstate '${code}' using message = 'RAISED'; end $$;`;
  const message = await failWith({ "build.sql": (sql) => `${sql}\n${raise}\n` });
  expect(message).toMatch(new RegExp(`^${fault} .*${advice}`));
});

it("a load fails if PostgreSQL skips rows, as it did after a \\. line before version 18", async () => {
  const skip = `create function staging.skip() returns trigger language plpgsql as 'begin return null; end';
    create trigger skip before insert on staging.findings for each row execute function staging.skip();`;
  expect(await failWith({ "staging.sql": (sql) => `${sql}${skip}\n` })).toMatch(
    /findings\.csv: PostgreSQL loaded 0 of 1 rows\. Nothing was published\./,
  );
});

it("a rollback to tables that would show suppressed rows is refused; a refresh repairs live ones", async () => {
  const seeFindings = async () => {
    await here.select("set role api_public");
    const rows = here.list("select report_id from api_v1_1_0.findings");
    return await rows.finally(() => here.select("reset role"));
  };
  await here.load();
  await here.load();
  const live = await readLive();
  await here.select("alter table suppressed_previous.findings disable row level security");
  await expect(here.rollBack()).rejects.toThrow("Missing: row-level security on suppressed.findings");
  expect(await readLive()).toEqual(live);
  await here.select("alter table suppressed.findings disable row level security");
  expect(await seeFindings()).toEqual([id(2)]);
  await here.load();
  expect(await seeFindings()).toEqual([]);
});
