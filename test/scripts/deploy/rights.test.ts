import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAgreements } from "../../../scripts/access/agreements.ts";
import { runKeys } from "../../../scripts/access/keys.ts";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { runRefreshProgram } from "../../../scripts/refresh/refresh-program.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { runHere } from "../../support/run-here.ts";
import { useOtherServer } from "../../support/scratch-database.ts";
import { makeDirectory, submission, writeCsv } from "../refresh/support/source-files.ts";
import { askEach, findKeyId, readAll, withLogin } from "./support.ts";

// Who is no superuser: an owner that deploys, a planner and a key operator, as docs/operations.md makes them.

const other = useOtherServer();
let server: ScratchServer;
let superuser: Client;
let superuserUrl: string;

const urlOf = (name: string) => withLogin(superuserUrl, name, "secret");
const runAs = (
  name: string,
  program: Parameters<typeof runHere>[0],
  args: string[],
  env: Record<string, string> = {},
) => runHere(program, args, { env: { DATABASE_URL: urlOf(name), SCRATCH_URL: other.url, ...env } });

beforeAll(async () => {
  server = await startScratchServer();
  superuserUrl = await server.create();
  superuser = await connect(superuserUrl, "test");
  await superuser.query("create role single_audit_owner login password 'secret'");
});
afterAll(async () => {
  await superuser.end();
  await server.close();
});

const database = () => new URL(superuserUrl).pathname.slice(1);

describe("who deploys", () => {
  it("is told what it lacks as SQL, before anything is changed", async () => {
    await superuser.query("create role publisher");
    const { code, stderr } = await runAs("single_audit_owner", runDeploy, []);
    expect([code, stderr.split("\n")]).toEqual([
      1,
      [
        "db:deploy: single_audit_owner may not deploy here. Nothing was changed. Ask an administrator to run:",
        "  alter role single_audit_owner createrole;",
        `  alter database ${database()} owner to single_audit_owner;`,
        "  grant publisher to single_audit_owner with admin option;",
        "A role that only plans or manages keys needs fewer rights: see docs/operations.md, Rights.",
        "",
      ],
    ]);
    const { rows } = await superuser.query(
      "select from pg_namespace where nspname in ('deployment', 'access') union all select from pg_roles where rolname = 'gateway'",
    );
    expect(rows).toEqual([]);
    for (const statement of stderr.split("\n").filter((line) => line.startsWith("  ")))
      await superuser.query(statement);
  });

  it("deploys everything without being superuser, with passwords, and again", async () => {
    const first = await runAs("single_audit_owner", runDeploy, ["--json"], { PUBLISHER_PASSWORD: "secret" });
    expect([first.code, first.stderr]).toEqual([0, ""]);
    expect(JSON.parse(first.stdout)).toMatchObject({ apiSchemasChanged: true, passwords: ["publisher"] });
    const { rows } = await superuser.query(
      "select rolsuper or rolbypassrls or rolcreatedb or rolreplication as more from pg_roles where rolname = 'single_audit_owner'",
    );
    expect(rows).toEqual([{ more: false }]);
    const again = await runAs("single_audit_owner", runDeploy, []);
    expect([again.code, again.stdout]).toEqual([0, "The API schemas are up to date.\nNothing to do.\n"]);
    const plan = await runAs("single_audit_owner", runDeploy, ["--plan"]);
    expect([plan.code, plan.stdout]).toEqual([
      0,
      expect.stringContaining("Nothing to do: the database matches db/.\n"),
    ]);
  });

  it("makes what a superuser makes", async () => {
    await deployDatabase(other.url);
    const parts = await readAll(urlOf("single_audit_owner"));
    expect(parts.length).toBeGreaterThan(1000);
    expect(parts).toEqual(await readAll(other.url));
  });

  it("leaves publication and rollback to the role publisher, whose password may stand in a file", async () => {
    const { directory, remove } = await makeDirectory();
    await writeCsv(directory, "general", [submission(1)]);
    await writeFile(path.join(directory, "password"), "secret\n");
    const env = {
      PUBLISHER_DATABASE_URL: urlOf("publisher").replace(":secret@", "@"),
      PUBLISHER_DATABASE_PASSWORD_FILE: path.join(directory, "password"),
    };
    for (const args of [["--from", directory], ["--rollback"]])
      expect(await runHere(runRefreshProgram, args, { env })).toMatchObject({ code: 0 });
    await remove();
    const { rows } = await superuser.query(
      "select distinct published_by from publication.data_sets where source <> 'empty'",
    );
    expect(rows).toEqual([{ published_by: "publisher" }]);
  });
});

describe("a planner", () => {
  beforeAll(async () => {
    const owner = await connect(urlOf("single_audit_owner"), "test");
    await owner.query("create role paul login password 'secret'; grant deployment_planner to paul");
    await owner.end();
  });

  it("sees what a deployment would do", async () => {
    const { code, stdout } = await runAs("paul", runDeploy, ["--plan"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("Nothing to do: the database matches db/.\n"),
    ]);
    await superuser.query("grant select on access.api_keys to key_operator");
    const drifted = await runAs("paul", runDeploy, ["--plan"]);
    expect([drifted.code, drifted.stdout]).toEqual([
      4,
      expect.stringContaining("+ grant select on table access.api_keys to key_operator"),
    ]);
    await superuser.query("revoke select on access.api_keys from key_operator");
    expect((await runAs("single_audit_owner", runDeploy, [])).code).toBe(0);
  });

  it("cannot deploy, nor change or read anything else", async () => {
    const { code, stderr } = await runAs("paul", runDeploy, []);
    expect([code, stderr]).toEqual([1, expect.stringContaining("paul may not deploy here.")]);
    const mayRead = /^(deployment|publication)\.|^access\.tiers$/;
    const more = [
      "select publication.find_leaks(true)",
      "select access.issue_key('individual', 'a@example.gov')",
      "set role api_public",
    ];
    expect(await findAllowed("paul", (name) => mayRead.test(name), more)).toEqual([]);
  });
});

/** What a role may do of what it should not: write any table, read those that are not named, and some more. */
async function findAllowed(
  role: string,
  mayRead: (name: string) => boolean,
  more: string[],
): Promise<string[]> {
  const { rows: tables } = await superuser.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'v') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`,
  );
  const statements = [
    ...tables.flatMap(({ name }) => [
      `delete from ${name}`,
      `truncate ${name}`,
      `insert into ${name} default values`,
    ]),
    ...tables.flatMap(({ name }) => (mayRead(name) ? [] : [`select from ${name}`])),
    ...["create schema more", "create temp table more ()", "create role more", "set role publisher", ...more],
  ];
  expect(statements.length).toBeGreaterThan(100);
  const refusal = /permission denied|must be owner|is not a table$|^cannot (insert|delete)/;
  return (await askEach(urlOf(role), statements)).filter((answer) => !refusal.test(answer));
}

describe("a key operator", () => {
  beforeAll(async () => {
    const owner = await connect(urlOf("single_audit_owner"), "test");
    await owner.query("create role alice login password 'secret'; grant key_operator to alice");
    await owner.end();
  });
  const ask = async (program: Parameters<typeof runHere>[0], args: string[]) => {
    const { code, stdout, stderr } = await runAs("alice", program, [...args, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  };
  const keys = (...args: string[]) => ask(runKeys, args);
  const agreements = (...args: string[]) => ask(runAgreements, args);

  it("requests, decides and revokes agreements; issues, rotates, verifies and revokes keys", async () => {
    const official = ["--official", "Ada", "--agency", "Agency", "--email", "ada@example.gov"];
    const { id } = await agreements("request", "--organization", "Nation", "--contact", "office@example.gov");
    await agreements("approve", id, ...official);
    const denied = await agreements("request", "--organization", "Other", "--contact", "o@example.gov");
    await agreements("deny", denied.id, ...official, "--reason", "none");
    const issued = await keys("issue", "--tier", "tribal", "--owner", "a@example.gov", "--agreement", id);
    const rotated = await keys("rotate", issued.id);
    expect(rotated.replaces.id).toBe(issued.id);
    await keys("revoke", issued.id);
    const { stdout } = await runHere(runKeys, ["verify"], {
      stdin: rotated.key,
      env: { DATABASE_URL: urlOf("alice") },
    });
    expect(stdout).toMatch(/^valid\n/);
    await agreements("revoke", id);
    const statusesOf = (rows: { status: string }[]) => rows.map(({ status }) => status).sort();
    expect(statusesOf(await agreements("list"))).toEqual(["denied", "revoked"]);
    expect(statusesOf(await keys("list", "--tier", "tribal"))).toEqual(["agreement revoked", "revoked"]);
  });

  it("is who the record names", async () => {
    const { id } = await keys("issue", "--tier", "individual", "--owner", "b@example.gov");
    const { history } = await keys("show", id);
    expect(history).toEqual([expect.objectContaining({ action: "insert", database_role: "alice" })]);
  });

  it("can do nothing else: no hash is read, no row is written past the functions", async () => {
    const mayRead = ["access.key_overview", "access.agreement_overview", "access.events"];
    const more = [
      "update access.api_keys set label = ''",
      "select access.prune_access_tokens()",
      "select access.record_key_use(array[]::uuid[])",
      "select access.redeem_access_token(gen_random_uuid())",
      "select publication.describe_data_set()",
      "alter table access.api_keys disable trigger all",
    ];
    expect(await findAllowed("alice", (name) => mayRead.includes(name), more)).toEqual([]);
    const demonstration = createHash("sha256").update("DEMO_KEY").digest("hex");
    const client = await connect(urlOf("alice"), "test");
    for (const relation of mayRead) {
      const { rows } = await client.query(`select * from ${relation}`);
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain(demonstration);
    }
    const { rows } = await client.query(
      "select to_jsonb(found) as found from access.verify_key(sha256('DEMO_KEY')) as found",
    );
    expect(rows).toEqual([{ found: expect.objectContaining({ id: await findKeyId(superuserUrl) }) }]);
    expect(Object.keys(rows[0].found)).not.toContain("key_sha256");
    await client.end();
  });

  it("is told whom to ask when it is none", async () => {
    await superuser.query("create role carl login password 'secret'");
    await superuser.query(`grant connect on database ${database()} to carl`);
    const { code, stderr } = await runAs("carl", runKeys, ["list"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("Connect as a member of key_operator")]);
  });
});
