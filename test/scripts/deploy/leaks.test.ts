import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { checkLeaks } from "../../../scripts/refresh/check-leaks.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { attacks } from "./leak-attacks.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  publishSample,
  viewColumns,
  viewFile,
} from "./support.ts";

// On a server of its own: roles belong to a whole server, and other tests use theirs meanwhile.
let server: ScratchServer;
let url: string;
let client: Client;
let copy: Copy;
beforeAll(async () => {
  server = await startScratchServer();
  url = await server.create();
  await deployDatabase(url);
  client = await connect(url, "test");
  await publishSample(client);
});
afterAll(async () => {
  await client?.end();
  await server?.close();
});
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

/** What the question says of a database to which this was done; nothing of it stays. */
async function askAfter(attack: string): Promise<string> {
  await client.query("begin");
  try {
    await client.query(attack);
    await checkLeaks(client, "");
    return "";
  } catch (error) {
    return error instanceof Error && error.name === "LeaksFound" ? error.message : Promise.reject(error);
  } finally {
    await client.query("rollback");
  }
}

describe("the question whether anything leaks", () => {
  it("finds nothing in what is deployed, and changes nothing", async () => {
    expect(await askAfter("")).toBe("");
    await client.query("begin");
    await checkLeaks(client);
    const { rows } = await client.query(
      "select current_user as role, coalesce(current_setting('pgrst.db_schemas', true), '') as served",
    );
    expect(rows).toEqual([{ role: "postgres", served: "" }]);
    await client.query("rollback");
  });

  it.each(attacks)("finds %s", async (attack, finding) => {
    expect(await askAfter(attack)).toMatch(finding);
  });

  it("tells no value of a suppressed row", async () => {
    const { rows } = await client.query("select report_id, auditee_name from suppressed.general");
    const said = await askAfter(
      "insert into disclosed.federal_awards select * from suppressed.federal_awards limit 0; alter role api_public bypassrls",
    );
    expect(
      rows.filter(({ report_id, auditee_name }) => said.includes(report_id) || said.includes(auditee_name)),
    ).toEqual([]);
  });

  it("is answered by rights in less than 300 ms", async () => {
    const start = performance.now();
    await client.query("select publication.find_leaks(false)");
    expect(performance.now() - start).toBeLessThan(300);
  });
});

const deploy = (options = {}) => deployDatabase(url, {}, { directory: copy.directory, ...options });
const migrate = (number: number, sql: string, head = "-- Lock level: none.") =>
  copy.write(`migrations/2099123100000000${number}_step.sql`, `${head}\n${sql};\n`);
const migrations = async () =>
  (
    await client.query<{ name: string }>(
      "select name from deployment.migrations where name like '2099%' order by 1",
    )
  ).rows.map(({ name }) => name);

describe("a migration", () => {
  it.each([
    [
      "disables row-level security",
      "alter table suppressed.general disable row level security",
      "suppressed.general has no row-level security",
    ],
    [
      "grants api_tribal to api_public",
      "grant api_tribal to api_public",
      "api_public is a member of api_tribal",
    ],
    [
      "lets a view of dissemination read with its owner's rights",
      "alter view dissemination.general set (security_invoker = false)",
      "api_public and api_owner may read dissemination.general, which does not run with its caller's rights",
    ],
    [
      "changes what the report service asks",
      "create or replace function publication.is_public_report(asked_report_id text) returns boolean language plpgsql stable security definer set search_path = '' as $$ begin return exists (select from dissemination.general where general.report_id = asked_report_id and (is_public or not is_public)); end $$",
      "anyone could download their PDFs",
    ],
    [
      "disables row-level security and renames a function that a data set needs",
      "alter function publication.describe_totals() rename to sums; alter table suppressed.general disable row level security",
      "describe_totals",
    ],
  ])(
    "that %s is refused, alone and beside an edit of the API, and nothing of it stays",
    async (_what, sql, leak) => {
      await migrate(1, sql);
      await expect(deploy()).rejects.toThrow(leak);
      await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
      await expect(deploy()).rejects.toThrow(leak);
      expect(await migrations()).toEqual([]);
      expect(await askAfter("")).toBe("");
    },
  );

  it.each([false, true])("cannot replace the leak check (in a rollback: %s)", async (rollsBack) => {
    await migrate(
      1,
      "create or replace function publication.find_leaks(check_rows boolean, generation text default '') returns setof text language sql as 'select null where false'; grant api_tribal to api_public",
    );
    await expect(deploy({ rollsBack })).rejects.toThrow("api_public is a member of api_tribal");
  });

  it("stays when a later step is refused, which says so", async () => {
    await migrate(1, "create table deployment.kept ()");
    await migrate(2, "grant api_tribal to api_public");
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    await expect(deploy({ report })).rejects.toThrow("api_public is a member of api_tribal");
    expect(await migrations()).toEqual(["20991231000000001_step"]);
    await copy.write("migrations/20991231000000002_step.sql", "-- Lock level: none.\nselect 1;\n");
    await copy.edit(viewFile, (text) => text.replace("audit_year,", "audit_yeer,"));
    await expect(deploy({ report })).rejects.toThrow("audit_yeer does not exist");
    expect(lines).toEqual(
      [1, 2].map(
        (n) => `These migrations stay applied: 2099123100000000${n}_step. Nothing else was changed.`,
      ),
    );
    // What ran by a deployment is not drift to the next.
    await copy.edit(viewFile, (text) => text.replace("audit_yeer,", "audit_year,"));
    await deploy();
    await client.query(
      "drop table deployment.kept; delete from deployment.migrations where name like '2099%'",
    );
    await deployDatabase(url, {}, { acceptsDrift: () => true });
  });

  it("that runs without a transaction and leaks switches the service off", async () => {
    const { rows } = await client.query<{ sql: string }>(
      "select pg_get_functiondef('publication.is_public_report(text)'::regprocedure) as sql",
    );
    await migrate(
      1,
      "create or replace function publication.is_public_report(asked_report_id text) returns boolean language sql stable security definer set search_path = '' as 'select exists (select from dissemination.general where general.report_id = asked_report_id)'",
      "-- No transaction: test\n-- Lock level: none.",
    );
    await expect(deploy()).rejects.toThrow(
      /anyone could download their PDFs[\s\S]*the service was switched off/,
    );
    const settings = await client.query("select is_open from publication.settings");
    expect([settings.rows, await migrations()]).toEqual([[{ is_open: false }], ["20991231000000001_step"]]);
    // A deployment of nothing new asks as well.
    await expect(deploy({ acceptsDrift: () => true })).rejects.toThrow(/anyone could download their PDFs/);
    await client.query(
      `${rows[0]?.sql}; update publication.settings set is_open = true; delete from deployment.migrations where name like '2099%'`,
    );
    await deployDatabase(url, {}, { acceptsDrift: () => true });
  });
});

it("a pre_config() that serves a schema made by hand, with its owner's view, is refused", async () => {
  await client.query(
    "create schema helper; create view helper.names as select auditee_name from suppressed.general; grant usage on schema helper to api_public; grant select on helper.names to api_public",
  );
  await copy.edit("api/request/pre_config.sql", (text) =>
    text.replace("order by served_schemas.place)", "order by served_schemas.place) || ',helper'"),
  );
  await expect(deploy()).rejects.toThrow(
    /pre_config\(\) serves the schema helper[\s\S]*api_public may read helper\.names, which is not part/,
  );
  await client.query("drop schema helper cascade");
});
