import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { planDeployment } from "../../../scripts/deploy/plan-deployment.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { runGuardedFiles } from "../../../scripts/sql/run-guarded-files.ts";
import { connect } from "../../../service/connect.ts";
import { type Copy, copyRepository, queryOn, readApiCatalogue, viewFile } from "./support.ts";

// On a server of its own: some of these would change its roles.

let server: ScratchServer;
/** A plan tries on a server of its own. */
let plans: ScratchServer;
let url: string;
let client: Client;
let copy: Copy | undefined;
beforeAll(async () => {
  [server, plans] = await Promise.all([startScratchServer(), startScratchServer()]);
  url = await server.create();
  await deployDatabase(url);
  client = await connect(url, "test");
});
afterAll(async () => {
  await client.end();
  await server.close();
  await plans.close();
});
afterEach(async () => {
  await copy?.dispose();
  copy = undefined;
});

/** Where the added statement stands: after a view of three lines and a comment. */
const line = 7;
const fileWith = (statement: string) =>
  [
    "create view api_v1_1_0.tried",
    "with (security_invoker = true) as",
    "select 1 as one;",
    "comment on view api_v1_1_0.tried is 'It''s tried;';",
    "",
    "-- Why not; it is SQL.",
    statement,
    "comment on column api_v1_1_0.tried.one is 'One';",
    "",
  ].join("\n");
const tryFile = async (
  sql: string,
  scope = { schemas: "^api_v1_1_0$", tables: false },
  role = "postgres",
) => {
  // A deployment clears the API's schemas before it runs their files.
  await client.query(
    `begin; drop schema api_v1_1_0 cascade; create schema api_v1_1_0; set local role ${role}`,
  );
  try {
    await runGuardedFiles(client, [{ files: [{ name: "file.sql", sql }], scope, rule: "The rule." }]);
    return "allowed";
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.query("rollback");
  }
};

/** Adds a statement to a view's file, and gives its line. */
const append = async (statement: string) => {
  let line = 0;
  await copy?.edit(viewFile, (text) => {
    line = text.split("\n").length;
    return `${text}${statement}\n`;
  });
  return line;
};

describe("a file of SQL", () => {
  it.each([
    "begin;",
    "commit;",
    "end;",
    "rollback;",
    "savepoint half;",
    "release half;",
    "start transaction;",
    "commit and chain;",
    "prepare transaction 'half';",
    "do $$ begin commit; end $$;",
    "do $$ begin execute 'commit'; end $$;",
    "create procedure api_v1_1_0.p() language plpgsql as 'begin commit; end'; call api_v1_1_0.p();",
    "vacuum;",
    "create index concurrently on access.api_keys (label);",
  ])("cannot end or leave its transaction: %s", async (statement) => {
    const message = await tryFile(fileWith(statement));
    expect(message).toMatch(new RegExp(`^file\\.sql:${line}:\\d+: `));
    expect(message).toMatch(/transaction|VACUUM|INDEX CONCURRENTLY/);
  });

  it.each([
    ["set role api_public;", "role"],
    ["set session authorization api_public;", "session_authorization"],
    ["set local work_mem = '9MB';", "work_mem"],
    ["set search_path = access;", "search_path"],
    ["set transaction read only;", "transaction_read_only"],
    ["do $$ begin perform set_config('row_security', 'off', false); end $$;", "row_security"],
  ])("leaves its session as it was: %s", async (statement, setting) => {
    expect(await tryFile(fileWith(statement).replace(/comment on column.*/, ""))).toMatch(
      new RegExp(`^file\\.sql:${line}:1: It leaves ${setting} changed for what comes after it`),
    );
  });

  it.each([
    ["select nosuch from api_v1_1_0.tried;", `${line}:8: column "nosuch" does not exist`, 7],
    ["comment on column api_v1_1_0.tried.nosuch is 'x';", `${line}:1: column "nosuch" of relation`, 0],
    ["do $$\nbegin\n  perform 1;\n  raise exception 'No.';\nend\n$$;", `${line + 3}:3: No.`, 2],
    ["do $$\nbegin\n  execute 'select ' || 'nosuch';\nend\n$$;", `${line + 2}:3: column "nosuch"`, 2],
    ["do $$\nbegin\n  perform 1, nosuch;\nend\n$$;", `${line + 2}:3: column "nosuch"`, 2],
    ["do $$\nbegin\n  perfrm 1;\nend\n$$;", `${line + 2}:3: syntax error at or near "perfrm"`, 2],
    ["selec 1;", `${line}:1: syntax error at or near "selec"`, 0],
    [
      "create function api_v1_1_0.f() returns int language plpgsql as $$\nbegin\n  retrn 1;\nend $$;",
      `${line + 2}:3: syntax error at or near "retrn"`,
      2,
    ],
    [
      "create function api_v1_1_0.f() returns int begin atomic select case when true then 1 end; select nosuch; end;",
      `${line}:98: column "nosuch"`,
      97,
    ],
    ["select 'é€😀', nosuch;", `${line}:15: column "nosuch"`, 14],
  ])("that fails says where: %s", async (statement, where, column) => {
    const lines = (await tryFile(fileWith(statement))).split("\n");
    expect(lines[0]).toContain(`file.sql:${where}`);
    expect(lines[1]).toMatch(/^ +\d+ \| /);
    expect(lines[2]).toBe(`      | ${" ".repeat(column)}^`);
  });
});

describe("an API file", () => {
  it("makes views, functions, types, comments and grants in its own schema", async () => {
    const own = `create type api_v1_1_0.pair as (a int, b text);
      create type api_v1_1_0.mood as enum ('good', 'bad');
      create domain api_v1_1_0.word as text constraint word_is_not_blank check (value ~ '\\S');
      create function api_v1_1_0.f(x api_v1_1_0.pair) returns int language sql stable as 'select x.a';
      create aggregate api_v1_1_0.total(int) (sfunc = int4pl, stype = int);
      comment on function api_v1_1_0.f is 'f';
      grant select on api_v1_1_0.tried to api_public;
      do $$ begin begin create view api_v1_1_0.more as select 1; exception when others then null; end; end $$;
      drop view api_v1_1_0.more;
      grant usage on schema api_v1_1_0 to api_public;`;
    expect(await tryFile(fileWith(own))).toBe("allowed");
  });

  it.each([
    ["alter role api_public bypassrls;", "the role api_public"],
    ["alter role api_public set work_mem = '1GB';", "the role api_public"],
    ["alter role authenticator password 'x';", "the role authenticator"],
    ["grant api_tribal to api_public;", "the role membership"],
    ["revoke api_tribal from authenticator;", "pg_auth_members"],
    ["create role intruder;", "the role intruder"],
    ["create policy all_of_it on suppressed.general using (true);", "the policy"],
    ["drop policy tribal_access on suppressed.general;", "suppressed.general"],
    ["alter table suppressed.general disable row level security;", "the table suppressed.general"],
    ["update access.tiers set requests_at_a_time = 1;", "access.tiers"],
    ["with x as (delete from deployment.retired_versions returning 1) select * from x;", "deployment."],
    ["truncate deployment.retired_versions;", "deployment.retired_versions"],
    ["select access.request_agreement('Tribe', 'tester@example.gov');", "access.tribal_access_agreements"],
    ["lock table access.api_keys;", "access.api_keys"],
    ["create schema helper;", "the schema helper"],
    ["grant select on access.api_keys to api_public;", "the table access.api_keys"],
    ["grant select (label) on access.api_keys to api_public;", "access.api_keys"],
    ["grant usage on schema access to api_public;", "the schema access"],
    ["alter schema access owner to publisher;", "the schema access"],
    ["comment on table access.api_keys is 'x';", "the table access.api_keys"],
    ["create table api_v1_1_0.t ();", "api_v1_1_0.t"],
    ["create materialized view api_v1_1_0.m as select 1;", "api_v1_1_0.m"],
    ["create sequence api_v1_1_0.s;", "api_v1_1_0.s"],
    ["create temp table t ();", "pg_temp"],
    ["create rule r as on insert to api_v1_1_0.tried do instead nothing;", "the rule r"],
    [
      "create function api_v1_1_0.t() returns trigger language plpgsql as 'begin end'; create trigger t instead of insert on api_v1_1_0.tried for each row execute function api_v1_1_0.t();",
      "the trigger t",
    ],
    ["create function request.x() returns int language sql return 1;", "the function request.x()"],
    ["drop function access.prune_access_tokens;", "a row of pg_"],
    ["alter view api_v1_1_0.tried owner to publisher;", "another owner"],
    [
      "create function api_v1_1_0.e() returns event_trigger language plpgsql as 'begin end'; create event trigger e on ddl_command_end execute function api_v1_1_0.e();",
      "the event trigger e",
    ],
    ["create extension tablefunc with schema api_v1_1_0;", "the extension tablefunc"],
    ["create cast (text as int) with inout as assignment;", "the cast"],
    [
      "create operator api_v1_1_0.=== (leftarg = int, rightarg = int, function = int4eq);",
      "the operator api_v1_1_0",
    ],
    ["alter default privileges grant select on tables to api_public;", "the default acl"],
    ["create publication p for all tables;", "the publication p"],
    [
      "do $$ begin execute format('grant create on database %I to api_public', current_database()); end $$;",
      "the database",
    ],
    ["set role publisher; create schema api_v9; reset role;", "It leaves role changed"],
    ["alter extension plpgsql add view api_v1_1_0.tried;", "a row of pg_depend"],
    ["alter function access.prune_access_tokens() depends on extension plpgsql;", "a row of pg_depend"],
    ["select lo_create(0);", "a row of pg_largeobject_metadata"],
    ["grant execute on function pg_read_file(text) to api_public;", "the function pg_catalog.pg_read_file"],
  ])("may not: %s", async (statement, what) => {
    const message = await tryFile(fileWith(statement));
    expect(message).toMatch(new RegExp(`^file\\.sql:${line}:\\d+: It `));
    expect(message.split("\n")[0]).toContain(what);
    expect(message).toContain("\n  The rule.");
  });

  // They are prepared once a session, and a file sees them there.
  it.each([
    `do $$ declare question record; begin
      for question in select name, statement from pg_prepared_statements where not from_sql loop
        execute format('deallocate %I', question.name);
        execute format('prepare %I as ', question.name) || case
          when question.statement ~ 'with written|as objects' then 'select 1 where false' else question.statement
        end;
      end loop;
    end $$;`,
    "deallocate all;",
  ])("cannot answer the deployment's questions itself: %s", async (statement) => {
    expect(await tryFile(statement)).toBe("allowed");
    expect(await tryFile(`${statement}\ncreate schema helper;`)).toMatch(
      new RegExp(
        `^file\\.sql:${statement.split("\n").length + 1}:1: It makes or changes the schema helper\\.`,
      ),
    );
  });

  it("is refused by the deployment and by its plan alike, with its line, and nothing has changed", async () => {
    copy = await copyRepository();
    const at = await append("alter role api_public bypassrls;");
    const before = await readApiCatalogue(url);
    const where = `db/${viewFile}:${at}:1: It makes or changes the role api_public.`;
    await expect(deployDatabase(url, {}, { directory: copy.directory })).rejects.toThrow(where);
    expect(
      (await planDeployment(url, await plans.create(), { directory: copy.directory })).refusal,
    ).toContain(where);
    expect(await readApiCatalogue(url)).toBe(before);
    expect(
      await queryOn(url, "select from pg_roles where rolname = 'api_public' and rolbypassrls"),
    ).toHaveLength(0);
  });

  it("cannot commit half a deployment, nor can --plan", async () => {
    copy = await copyRepository();
    const at = await append("commit;");
    const before = await readApiCatalogue(url);
    const where = `db/${viewFile}:${at}:1: EXECUTE of transaction commands`;
    expect(
      (await planDeployment(url, await plans.create(), { directory: copy.directory })).refusal,
    ).toContain(where);
    await expect(deployDatabase(url, {}, { directory: copy.directory })).rejects.toThrow(where);
    expect(await readApiCatalogue(url)).toBe(before);
  });
});

describe("a file of the data set, as publisher", () => {
  const scope = { schemas: "^(staging|dissemination|(disclosed|suppressed)(_next)?)$", tables: true };
  it.each([
    "create schema staging; create table staging.x (id int primary key, y text); insert into staging.x values (1); drop schema staging cascade;",
    "create table disclosed.x as select 1 as y; create index on disclosed.x (y); alter table disclosed.x enable row level security; create policy p on disclosed.x using (true); grant select on disclosed.x to api_public;",
    "alter schema disclosed rename to disclosed_next; create schema disclosed; drop schema disclosed_next cascade;",
  ])("may: %s", async (sql) => {
    expect(await tryFile(sql, scope, "publisher")).toBe("allowed");
  });

  it.each([
    ["create schema api_v9;", "the schema api_v9"],
    ["alter role publisher set work_mem = '1GB';", "the role publisher"],
    ["alter default privileges grant select on tables to api_public;", "the default acl"],
    ["update publication.data_sets set source = 'x';", "publication.data_sets"],
  ])("may not: %s", async (statement, what) => {
    const message = await tryFile(`select 1;\n${statement}`, scope, "publisher");
    expect(message.split("\n")[0]).toMatch(/^file\.sql:2:1: It /);
    expect(message).toContain(what);
  });
});

describe("a schema named like a version that somebody else made", () => {
  it("is named, left alone and not served", async () => {
    await queryOn(url, "set role publisher; create schema api_v9; create table api_v9.t ()");
    await queryOn(url, "update deployment.api_schemas set sha256 = 'x'");
    const lines: string[] = [];
    await deployDatabase(url, {}, { report: (text) => lines.push(text) });
    expect(lines).toEqual([
      "warning: the schema api_v9 is not of this deployment: it belongs to publisher. It is not served, and left alone.",
    ]);
    expect(await queryOn(url, "select to_regclass('api_v9.t')::text as left")).toEqual([
      { left: "api_v9.t" },
    ]);
    await queryOn(url, "drop schema api_v9 cascade");
  });
});
