import { describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { useCopies } from "../../support/scratch-database.ts";
import { useRefresh, withDefinitions } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

// Only publisher can read a data set that is not live, whether it was replaced or is not yet published.

const here = useRefresh();
const { list, select } = here;

/** Publishes a report as public, then as suppressed. */
async function publishThenSuppress(): Promise<void> {
  await select("delete from publication.suppressed_reports");
  for (const is_public of ["t", "f"]) {
    await here.write("general", [submission(1, { is_public, auditee_name: "Pueblo" }), submission(2)]);
    await here.write("findings", [{ report_id: id(1) }, { report_id: id(2) }]);
    await here.load();
  }
}

/** Runs a query as a role in a transaction that is rolled back. Returns its values, or the error's message. */
async function readAs(role: string, sql: string): Promise<unknown> {
  await select(`begin; set local role ${role}`);
  return await list(sql)
    .catch((error: Error) => error.message)
    .finally(() => select("rollback"));
}

/** Each relation of these generations that a role other than its owner has a right on, with that role. */
const listRights = (pattern: string) =>
  list(
    `select distinct concat(pg_class.oid::regclass, ' ', grantee::regrole) from pg_class
     left join pg_attribute on attrelid = pg_class.oid
     cross join lateral aclexplode(array_cat(relacl, attacl)) as granted
     where relnamespace::regnamespace::text ~ '${pattern}' and grantee <> relowner`,
  );
const readers = [
  "api_public",
  "api_tribal",
  "api_owner",
  "gateway",
  "authenticator",
  "report_service",
  "site",
];
const retired = "_(next|previous|dropped)$";

describe("a data set that was replaced", () => {
  useCopies(here.database, publishThenSuppress);

  it.each([
    ["by name", "select auditee_name from disclosed_previous.general"],
    ["one column of it", "select report_id from disclosed_previous.findings"],
    ["a materialized view of it", "select * from disclosed_previous.totals_by_state"],
    [
      "through a function that takes a table",
      "select table_to_xml(to_regclass('disclosed_previous.general'), true, false, '')::text",
    ],
  ])("cannot be read by any role of the API: %s", async (_how, sql) => {
    for (const role of readers)
      expect(await readAs(role, sql), role).toMatch(/^permission denied for (schema|table|materialized)/);
    expect(await readAs("publisher", sql)).not.toContain("permission");
    expect(await readAs("publisher", sql)).toContainEqual(expect.anything());
  });

  it("cannot be read through a view that is bound to it", async () => {
    const schema = "grant usage on schema disclosed_previous to api_public";
    const made =
      "create view dissemination.past with (security_invoker = true) as table disclosed_previous.general; grant select on dissemination.past to api_public";
    await select(`begin; ${schema}; ${made}; set local role api_public`);
    await expect(
      select("select * from dissemination.past").finally(() => select("rollback")),
    ).rejects.toThrow("permission denied for table general");
  });

  it("is readable again after a rollback, and the data set that it replaces is not", async () => {
    const seen = "select auditee_name from dissemination.general where auditee_name is not null";
    expect(await readAs("api_public", seen)).toEqual([]);
    await select("delete from publication.suppressed_reports");
    await here.rollBack();
    expect(await readAs("api_public", seen)).toEqual(["Pueblo"]);
    expect(await listRights(retired)).toEqual([]);
    await here.rollBack();
    expect(await readAs("api_public", seen)).toEqual([]);
    expect(await readAs("api_tribal", seen)).toEqual(["Pueblo"]);
    expect(await listRights(retired)).toEqual([]);
  });

  it("loses rights that were granted by hand while it was live", async () => {
    await select(
      "create role analyst; grant usage on schema disclosed to analyst; grant select (report_id), update (auditee_name) on disclosed.general to analyst with grant option; grant select on suppressed.findings to public",
    );
    try {
      await here.load();
      expect(await listRights(retired)).toEqual([]);
      expect(await listRights("^(disclosed|suppressed)$")).not.toContain("disclosed.general analyst");
      const usage = "select has_schema_privilege('analyst', 'disclosed_previous', 'usage')";
      expect(await list(usage)).toEqual([false]);
    } finally {
      await select("drop owned by analyst; drop role analyst");
    }
  });
});

it("only publisher can read the new data set until it is live, and the old one from then on", async () => {
  const assertNoRights = (generation: string) =>
    `do $$ begin assert not exists (
       select from pg_catalog.pg_class, aclexplode(relacl)
       where relnamespace::regnamespace::text in ('disclosed${generation}', 'suppressed${generation}') and grantee <> relowner
     ); end $$;\n`;
  await here.load();
  const spy = (sql: string) => `${assertNoRights("_next")}${sql}${assertNoRights("_previous")}`;
  await withDefinitions({ "publish.sql": spy }, here.load);
});

it("readers get no right on the fingerprints and the search's terms", async () => {
  await here.load();
  expect(await listRights("^disclosed$")).toEqual(
    expect.arrayContaining(["disclosed.general api_public", "disclosed.totals_by_state api_tribal"]),
  );
  for (const name of ["fingerprints", "search_terms", "totals_by_peer_groups"])
    expect(await listRights("^disclosed$")).not.toContain(`disclosed.${name} api_public`);
});

it("changing the rights takes no lock that a reader would wait for", async () => {
  await here.load();
  await select(
    "begin; grant select on disclosed_previous.general to api_public; select data_set.open_live_schemas()",
  );
  const modes = await list(
    `select distinct mode from pg_locks where pid = pg_backend_pid() and locktype = 'relation'
       and relation::regclass::text ~ '^(disclosed|suppressed)'`,
  );
  await select("rollback");
  expect(modes).toEqual(["AccessShareLock"]);
});

it("lets nobody run a function that its file does not grant, even if another role deploys than the first time", async () => {
  // Default privileges belong to the role that deployed first.
  await select(
    "drop function data_set.open_live_schemas(); alter default privileges grant execute on functions to public",
  );
  await deployDatabase(here.database.url);
  const open = `select concat(pg_proc.oid::regprocedure) from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
    where pronamespace::regnamespace::text in ('publication', 'data_set', 'request') and grantee = 0`;
  expect(await list(open)).toEqual([]);
  await select("alter default privileges revoke execute on functions from public");
});

it("a policy made by hand on the live data set is a leak, and a refresh replaces the data set", async () => {
  await publishThenSuppress();
  await select("create policy everybody on suppressed.findings for select to api_public using (true)");
  const findings = "select report_id from dissemination.findings order by 1";
  expect(await readAs("api_public", findings)).toEqual([id(1), id(2)]);
  expect(await list("select publication.find_leaks(false)")).toEqual([
    "Unlisted: policy everybody on suppressed.findings for select to api_public using (true). Run: drop policy everybody on suppressed.findings",
  ]);
  await here.load();
  expect(await readAs("api_public", findings)).toEqual([id(2)]);
  expect(await list("select publication.find_leaks(true)")).toEqual([]);
});
