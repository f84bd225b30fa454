import { describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { checkLeaks } from "../../../scripts/sql/check-leaks.ts";
import { connect } from "../../../shared/connect.ts";
import { attacks, detours, handMade, strayRights } from "./leak-attacks.ts";
import { publishSample, useCopy, useOwnServer, viewFile } from "./support.ts";

const copy = useCopy();
const own = useOwnServer(async ({ url, client }) => {
  await deployDatabase(url);
  await publishSample(client);
});

/** Runs an attack and the leak check, and rolls back. Returns the findings, or "" if there are none. */
async function askAfter(attack: string): Promise<string> {
  await own.client.query("begin");
  try {
    await own.client.query(attack);
    await checkLeaks(own.client, "");
    return "";
  } catch (error) {
    if (error instanceof Error && error.name === "LeaksFound") return error.message;
    throw error;
  } finally {
    await own.client.query("rollback");
  }
}

describe("the leak check", () => {
  it("finds nothing in a deployed database, and changes neither role nor settings", async () => {
    expect(await askAfter("")).toBe("");
    await own.client.query("begin");
    await checkLeaks(own.client);
    const { rows } = await own.client.query(
      "select current_user as role, coalesce(current_setting('pgrst.db_schemas', true), '') as served",
    );
    expect(rows).toEqual([{ role: "postgres", served: "" }]);
    await own.client.query("rollback");
  });

  it.each(Object.entries(attacks))("finds %s", async (attack, finding) =>
    expect(await askAfter(attack)).toContain(finding),
  );

  it.each([
    ["was made by hand in schemas that PostgREST serves or searches", handMade],
    ["was granted to roles that need it not", strayRights],
    ["takes a detour", detours],
  ])("finds all that %s", async (_what, cases) => {
    // All cases are asked about at once, which is faster, so each gets names of its own.
    const named = Object.entries(cases).map((texts, number) =>
      texts.map((text) => text.replaceAll(/\b(peek|copy)\b/g, `$1_${number}`)),
    );
    const said = await askAfter(named.map(([attack]) => attack).join(";\n"));
    for (const [attack, finding] of named) expect.soft(said, attack).toContain(finding);
  });

  it("says what to run, and finds nothing once that has run", async () => {
    const statements = [
      "alter table disclosed.findings owner to postgres",
      "grant truncate on disclosed.general to api_public",
      "create view extensions.monitoring as select 1 as one; grant select on extensions.monitoring to public",
      "grant execute on function request.decide to api_public",
      "grant select on disclosed_previous.general to api_public; grant select (report_id) on disclosed.general to gateway",
      "create domain request.role as text",
      "alter role report_service createrole; grant api_tribal to authenticator with admin option",
      "alter role all set row_security = off; alter role api_public set search_path = 'public'",
      "do $$ begin execute format('alter role site in database %I set search_path = public', current_database()); end $$",
      "do $$ begin execute format('alter database %I set session_replication_role = replica', current_database()); end $$",
      "alter view dissemination.general reset (security_invoker)",
      "grant select on pg_statistic to api_public; grant execute on function pg_read_file(text) to public",
      "create schema helper authorization publisher",
      'create role "the analyst"; create schema helped; alter default privileges for role "the analyst" in schema helped grant select on tables to public',
      "alter default privileges for role publisher grant select on large objects to api_public",
      "select lo_create(4712); grant select on large object 4712 to public",
      "alter table access.tiers drop constraint tiers_only_tribal_sees_suppressed; update access.tiers set database_role = 'api_tribal' where name = 'individual'",
      "alter table suppressed.general disable row level security",
      "create materialized view suppressed.names as select auditee_name from suppressed.general; alter materialized view suppressed.names owner to publisher",
      "create policy everybody on suppressed.passthrough for select to api_public using (true)",
      "create policy conditional on disclosed.findings for select to api_public using (report_id <> '')",
      "alter table suppressed.additional_eins inherit disclosed.additional_eins",
      "create trigger keep before update on disclosed.general for each row execute function suppress_redundant_updates_trigger()",
      "create rule kept as on insert to dissemination.findings do instead select 1",
      "alter table disclosed.general add column shouted text generated always as (upper(auditee_name)) stored",
    ];
    const broken = statements.join(";");
    const remedies = [...(await askAfter(broken)).matchAll(/[Rr]un: (.*)/g)].map(([, sql]) => sql);
    expect(remedies.length).toBeGreaterThanOrEqual(statements.length);
    expect(await askAfter([broken, ...new Set(remedies)].join(";"))).toBe("");
  });

  it.each([
    ["an extension whose relations everyone may read", "create extension pg_stat_statements schema public"],
    ["types of a schema that no API role may use", "create type public.span as range (subtype = integer)"],
    [
      "tables, views and functions that no API role may read or run",
      "create schema helper; create table helper.copy as table suppressed.general; create view helper.names as select auditee_name from helper.copy; create function helper.one() returns integer language sql return 1",
    ],
    [
      "an administrator who may become the deploying role",
      "create role administrator createrole; grant postgres, publisher to administrator with admin option",
    ],
    [
      "roles that watch the server, or read public rows",
      "create role watcher in role pg_monitor; create role reporter; grant usage on schema disclosed to reporter; grant select on disclosed.general, dissemination.findings to reporter",
    ],
    [
      "a connection to another server, which publisher uses",
      "create extension postgres_fdw schema public; create server far foreign data wrapper postgres_fdw; create user mapping for publisher server far",
    ],
    ["rights that are revoked", "revoke execute on function pg_sleep(double precision) from public"],
  ])("finds nothing in %s", async (_what, sql) => expect(await askAfter(sql)).toBe(""));

  it("finds what is granted by hand on a relation of an extension", async () => {
    const extension = "create extension pg_stat_statements schema public";
    const more = [
      "grant select on pg_stat_statements to api_public",
      "grant select (query) on pg_stat_statements to api_public",
    ];
    for (const grant of more)
      expect(await askAfter(`${extension}; ${grant}`)).toMatch(
        /Unlisted: api_public may select( \(query\))? on table public\.pg_stat_statements/,
      );
  });

  it("is refused without its list", async () =>
    expect(askAfter("alter table deployment.rights rename to others")).rejects.toThrow("deployment.rights"));

  it("reveals no value of a suppressed row", async () => {
    const { rows } = await own.client.query("select report_id, auditee_name from suppressed.general");
    const said = await askAfter(
      "insert into disclosed.federal_awards select * from suppressed.federal_awards limit 0; alter role api_public bypassrls",
    );
    expect(rows.flatMap(Object.values).filter((value) => said.includes(value))).toEqual([]);
  });
});

const deploy = (options = {}) => deployDatabase(own.url, {}, { directory: copy.directory, ...options });
const listMigrations = async () =>
  (await own.client.query("select name from deployment.migrations where name like '2099%' order by 1")).rows;
const undo = async (sql = "") => {
  await own.client.query(`${sql}; delete from deployment.migrations where name like '2099%'`);
  await deployDatabase(own.url, {}, { acceptsDrift: () => true });
};
const isPublicReport = (body: string) =>
  `create or replace function publication.is_public_report(asked_report_id text) returns boolean language sql stable security definer set search_path = '' as 'select exists (select from dissemination.general where general.report_id = asked_report_id ${body})'`;

describe("a migration", () => {
  const leaks = {
    "alter table suppressed.general disable row level security":
      "Missing: row-level security on suppressed.general",
    "grant api_tribal to api_public": "api_public may become api_tribal",
    "alter view dissemination.general set (security_invoker = false)":
      "Unlisted: view dissemination.general (security_invoker=false): ",
    [isPublicReport("and (is_public or not is_public)")]:
      "Unlisted: function publication.is_public_report(text) runs as the deploying role: ",
    "alter function publication.describe_service() rename to sums; alter table suppressed.general disable row level security":
      "Unlisted: function publication.sums() runs as the deploying role: ",
  };
  it.each(Object.entries(leaks))("that leaks is refused and rolled back: %s", async (sql, leak) => {
    await copy.migrate(sql);
    await expect(deploy()).rejects.toThrow(leak);
    expect(await listMigrations()).toEqual([]);
    expect(await askAfter("")).toBe("");
    // Bodies of functions are compared, too, while no deployment runs.
    const [body, finding] = Object.entries(detours).find(([sql]) => sql.includes("refuse_removal")) ?? [];
    expect(await askAfter(body ?? "")).toContain(finding);
  });

  it.each([false, true])("cannot replace the leak check (--roll-back: %s)", async (rollsBack) => {
    await copy.migrate(
      "create or replace function publication.find_leaks(check_rows boolean, generation text default '') returns setof text language sql as 'select null where false'; grant api_tribal to api_public",
    );
    await expect(deploy({ rollsBack })).rejects.toThrow("api_public may become api_tribal");
  });

  it("stays applied if a later step is refused, and the deployment reports it as applied", async () => {
    await copy.migrate("create table deployment.kept ()");
    await copy.migrate("grant api_tribal to api_public", 2);
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    await expect(deploy({ report })).rejects.toThrow("api_public may become api_tribal");
    expect(await listMigrations()).toEqual([{ name: "20991231000000001_step" }]);
    await copy.migrate("select 1", 2);
    await copy.edit(viewFile, (text) => text.replace("audit_year,", "audit_yeer,"));
    await expect(deploy({ report })).rejects.toThrow("audit_yeer does not exist");
    expect(lines).toEqual([1, 2].map((n) => expect.stringContaining(`applied: 2099123100000000${n}_step.`)));
    // The next deployment does not mistake migrations that a deployment ran for drift.
    await copy.edit(viewFile, (text) => text.replace("audit_yeer,", "audit_year,"));
    await deploy();
    await undo("drop table deployment.kept");
  });

  it("that runs without a transaction and leaks makes the deployment switch the service off", async () => {
    await copy.migrate("-- No transaction: test\nalter table suppressed.general disable row level security");
    await expect(deploy()).rejects.toThrow(
      /row-level security on suppressed\.general[\s\S]*The service was switched off/,
    );
    const settings = await own.client.query("select is_switched_on from publication.settings");
    expect([settings.rows, await listMigrations()]).toMatchObject([[{ is_switched_on: false }], [{}]]);
    // A deployment with nothing to do also checks for leaks.
    await expect(deploy({ acceptsDrift: () => true })).rejects.toThrow(
      "Missing: row-level security on suppressed.general",
    );
    await undo(
      "alter table suppressed.general enable row level security; update publication.settings set is_switched_on = true",
    );
  });
});

it("a pre_config() that serves a hand-made schema with a view of suppressed rows is refused", async () => {
  await own.client.query(
    "create schema helper; create view helper.names as select auditee_name from suppressed.general; grant usage on schema helper to api_public; grant select on helper.names to api_public",
  );
  await copy.edit("api/request/pre_config.sql", (text) =>
    text.replace("order by served_schemas.place)", "order by served_schemas.place) || ',helper'"),
  );
  await expect(deploy()).rejects.toThrow("Unlisted: api_public may select on table helper.names");
  await own.client.query("drop schema helper cascade");
});

it("a function of the pages that the leak check does not call is refused", async () => {
  await copy.write(
    "functions/publication/peek.sql",
    "create or replace function publication.peek(id text) returns bigint language sql stable security definer set search_path = '' as 'select count(*) from suppressed.general where auditee_uei = id';\ngrant execute on function publication.peek to report_service, site;\n",
  );
  await copy.edit("contracts/rights.txt", (text) => {
    const lines = text.split("\n").filter((line) => line.includes(" publication.search_programs(text)"));
    return text + lines.map((line) => `${line.replace("search_programs", "peek")}\n`).join("");
  });
  await expect(deploy()).rejects.toThrow("publication.peek(text): The pages show what this function returns");
});

it("a file of the schema request cannot replace the leak check", async () => {
  await copy.edit(
    "api/request/schema.sql",
    (text) =>
      `${text}create or replace function publication.find_leaks(check_rows boolean, generation text default '') returns setof text language sql as 'select null where false';\ngrant api_tribal to api_public;\n`,
  );
  await expect(deploy()).rejects.toThrow("api_public may become api_tribal");
});

it("a rollback reads rights as its own list does", async () => {
  await own.client.query(`
    do $$ begin execute replace(pg_get_functiondef('publication.find_rights'::regproc), 'select facts.fact,', 'select ''In other words: '' || facts.fact,'); end $$;
    update deployment.rights set fact = 'In other words: ' || fact where fact in (select substr(fact, 17) from publication.find_rights())`);
  expect(await askAfter("")).toBe("");
  await copy.addColumn();
  await deploy({ rollsBack: true });
  expect(await askAfter("")).toBe("");
  await undo();
});

it("a deployment reads rows before it waits for requests, which then wait for it", async () => {
  const file = "functions/publication/is_public_report.sql";
  await copy.edit(file, (text) => text.replace("from disclosed.general", "from dissemination.general"));
  // As a request does.
  await own.client.query("begin; select pg_advisory_xact_lock_shared(hashtext('api_schemas'))");
  await expect(deploy()).rejects.toThrow("anyone could download their PDFs");
  await own.client.query("commit");
});

it("a deployment waits for a publication that has begun, and then checks its rows", async () => {
  await copy.addColumn();
  const lines: string[] = [];
  const publisher = await connect(own.url, "test");
  await publisher.query("begin; lock table publication.data_sets in row exclusive mode");
  await publisher.query(
    "insert into publication.suppressed_reports (report_id) select min(report_id) from disclosed.general",
  );
  const deployed = deploy({ report: (line: string) => void lines.push(line) });
  const refused = expect(deployed).rejects.toThrow(
    "disclosed.general reveals data of suppressed submissions",
  );
  await expect.poll(() => lines.join()).toContain("Waiting for requests to end");
  await publisher.query("commit");
  await publisher.end();
  await refused;
  await own.client.query(
    "delete from publication.suppressed_reports where report_id in (select report_id from disclosed.general)",
  );
});
