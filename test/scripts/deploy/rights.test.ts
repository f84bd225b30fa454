import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runAgreements } from "../../../scripts/access/agreements.ts";
import { runKeys } from "../../../scripts/access/keys.ts";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runRefreshProgram } from "../../../scripts/refresh/refresh-program.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { queryOn } from "../../support/query-on.ts";
import { type Program, runHere } from "../../support/run-here.ts";
import { useOtherServer } from "../../support/scratch-database.ts";
import { submission, writeCsv } from "../refresh/support/source-files.ts";
import { readAll, runDeploy, useOwnServer, withLogin } from "./support.ts";

// Roles without superuser rights: an owner that deploys, a planner and a key operator, as in docs/operations.md.
// db/contracts/rights.txt lists what a planner and a key operator may read, write and run.

const other = useOtherServer();
const own = useOwnServer(({ client }) =>
  client.query("create role single_audit_owner login password 'secret'; create role publisher"),
);
const urlOf = (name: string) => withLogin(own.url, name);
const runAs = (name: string, program: Program, args: string[], env: Record<string, string> = {}) =>
  runHere(program, args, { env: { DATABASE_URL: urlOf(name), SCRATCH_URL: other.url, ...env } });

describe("the owner", () => {
  it("is told the SQL that grants the rights it lacks, before anything is changed", async () => {
    const { code, stderr } = await runAs("single_audit_owner", runDeploy, []);
    const lines = stderr.split("\n");
    expect([code, lines]).toEqual([
      1,
      [
        "db:deploy: single_audit_owner lacks the rights to deploy here. Nothing was changed. Ask an administrator to run:",
        "  alter role single_audit_owner createrole;",
        `  alter database ${own.client.database} owner to single_audit_owner;`,
        "  grant publisher to single_audit_owner with admin option;",
        "A role that only makes deployment plans, or only manages keys, needs fewer rights: see docs/operations.md, Rights.",
        "",
      ],
    ]);
    const { rows } = await own.client.query(
      "select from pg_namespace where nspname in ('deployment', 'access') union all select from pg_roles where rolname = 'gateway'",
    );
    expect(rows).toEqual([]);
    await own.client.query(lines.slice(1, 4).join(""));
  });

  it("deploys everything, including passwords, without superuser rights, and again", async () => {
    const first = await runAs("single_audit_owner", runDeploy, ["--json"], { PUBLISHER_PASSWORD: "secret" });
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ apiSchemasChanged: true, passwords: ["publisher"] });
    // Only an administrator, or an owner with this privilege, can limit the temporary files of requests.
    const limit = "alter role authenticator set temp_file_limit = '2GB';";
    expect(first.stderr).toMatch(
      /^Warning: nothing limits the temporary files of a request[^\n]*\n[^\n]*\n$/,
    );
    expect(first.stderr).toContain(`  ${limit}`);
    await own.client.query("grant set on parameter temp_file_limit to single_audit_owner");
    expect(await runAs("single_audit_owner", runDeploy, [])).toMatchObject({
      code: 0,
      stdout: "The API schemas are up to date.\nNothing to do.\n",
    });
  });

  it("creates the same objects as a superuser", async () => {
    await deployDatabase(other.url);
    const parts = await readAll(urlOf("single_audit_owner"));
    expect(parts.length).toBeGreaterThan(1000);
    expect(parts).toEqual(await readAll(other.url));
  });

  it("owns what its members and superusers deploy", async () => {
    await own.client.query(
      "create role bob login createrole password 'secret'; grant single_audit_owner to bob",
    );
    for (const url of [urlOf("bob"), own.url]) {
      // The API is rebuilt.
      await own.client.query("update deployment.api_schemas set sha256 = ''");
      const env = { DATABASE_URL: url, SCRATCH_URL: other.url };
      expect(await runHere(runDeploy, [], { env })).toMatchObject({ code: 0 });
    }
    expect(await readAll(own.url)).toEqual(await readAll(other.url));
  });

  it("leaves publication and rollback to the role publisher, whose password may be in a file", async () => {
    const directory = await makeDirectory();
    await writeCsv(directory, "general", [submission(1)]);
    const refresh = ["--from", directory, "--force"];
    await writeFile(path.join(directory, "password"), "secret\n");
    const env = {
      PUBLISHER_DATABASE_URL: urlOf("publisher").replace(":secret@", "@"),
      PUBLISHER_DATABASE_PASSWORD_FILE: path.join(directory, "password"),
    };
    for (const args of [["--new-ledger", await makeDirectory()], refresh, refresh, ["--rollback"]])
      expect(await runHere(runRefreshProgram, args, { env })).toMatchObject({ code: 0 });
    const { rows } = await own.client.query("select distinct published_by from publication.data_sets");
    expect(rows).toEqual([{ published_by: "publisher" }]);
  });
});

it("a planner sees what a deployment would do, and can neither deploy nor list keys", async () => {
  await queryOn(
    urlOf("single_audit_owner"),
    "create role paul login password 'secret'; grant deployment_planner to paul",
  );
  const nothing = expect.stringContaining("Nothing to deploy.\n");
  expect(await runAs("paul", runDeploy, ["--plan"])).toMatchObject({ code: 0, stdout: nothing });
  const refusal = expect.stringContaining("paul lacks the rights to deploy here.");
  expect(await runAs("paul", runDeploy, [])).toMatchObject({ code: 1, stderr: refusal });
  const advice = expect.stringContaining("Connect as a member of key_operator");
  expect(await runAs("paul", runKeys, ["list"])).toMatchObject({ code: 1, stderr: advice });
});

describe("a key operator", () => {
  const ask = async (program: Program, args: string[]) => {
    const { code, stdout, stderr } = await runAs("alice", program, [...args, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  };
  const keys = (...args: string[]) => ask(runKeys, args);
  const agreements = (...args: string[]) => ask(runAgreements, args);

  it("requests, decides and revokes agreements; issues, rotates, verifies and revokes keys, under its own name", async () => {
    await queryOn(
      urlOf("single_audit_owner"),
      "create role alice login password 'secret'; grant key_operator to alice",
    );
    const official = ["--official", "Ada", "--agency", "Agency", "--email", "ada@example.gov"];
    const { id } = await agreements("request", "--organization", "Nation", "--contact", "office@example.gov");
    await agreements("approve", id, ...official);
    const denied = await agreements("request", "--organization", "Other", "--contact", "o@example.gov");
    await agreements("deny", denied.id, ...official, "--reason", "none");
    const issued = await keys("issue", "--tier", "tribal", "--owner", "a@example.gov", "--agreement", id);
    const { history } = await keys("show", issued.id);
    expect(history).toEqual([expect.objectContaining({ action: "insert", database_role: "alice" })]);
    const rotated = await keys("rotate", issued.id);
    expect(rotated.replaces.id).toBe(issued.id);
    await keys("revoke", issued.id);
    const env = { DATABASE_URL: urlOf("alice") };
    const { stdout } = await runHere(runKeys, ["verify"], { stdin: rotated.key, env });
    expect(stdout).toMatch(/^valid\n/);
    await agreements("revoke", id);
    const statusesOf = (rows: { status: string }[]) => rows.map(({ status }) => status).sort();
    expect(statusesOf(await agreements("list"))).toEqual(["denied", "revoked"]);
    expect(statusesOf(await keys("list", "--tier", "tribal"))).toEqual(["agreement revoked", "revoked"]);
  });

  it("sees no hash of a key", async () => {
    const views = ["access.key_overview", "access.agreement_overview", "access.events"];
    const selects = [...views, "access.verify_key(sha256('DEMO_KEY'))"].map(
      (source) => `select to_jsonb(r) as row from ${source} as r`,
    );
    const rows = await queryOn(urlOf("alice"), selects.join(" union all "));
    const [hash] = await queryOn(own.url, "select encode(sha256('DEMO_KEY'), 'hex') as hex");
    expect(rows.length).toBeGreaterThan(4);
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`key_sha256|${hash?.hex}`));
  });
});
