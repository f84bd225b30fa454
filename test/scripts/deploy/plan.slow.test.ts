import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../support/make-directory.ts";
import { refreshHere, withDefinitions } from "../refresh/support/refresh.ts";
import { submission, writeCsv } from "../refresh/support/source-files.ts";
import { readAll, useDeployments } from "./support.ts";

// Each test has its own deployed database and its own copy of db.

const own = useDeployments();
const { copy, query, deploy, exits } = own;

describe("db:deploy --plan", () => {
  const publish = async () => {
    const directory = await makeDirectory();
    await writeCsv(directory, "general", [submission(1)]);
    expect(await refreshHere(["--from", directory], { DATABASE_URL: own.database.url })).toMatchObject({
      code: 0,
    });
  };
  beforeEach(publish);

  it("prints what would change and which statements depend on rows, and changes nothing", async () => {
    await copy.addColumn();
    await copy.migrate(
      "create table deployment.more ();\ncreate unique index events_once on access.events (subject_id);\ndo $$ begin perform 1; end $$",
    );
    await copy.edit("data_set/check.sql", (text) => `${text}\n-- More.\n`);
    own.env.PUBLISHER_PASSWORD = "secret";
    const before = await readAll(own.database.url);
    const lines = [
      "Migration 20991231000000001_step would run:\n    create table deployment.more ();",
      "~ view api_v1_1_0.additional_eins",
      "+ column other_id: text",
      "db/migrations/20991231000000001_step.sql:2: this statement fails if rows have duplicate values.",
      "db/migrations/20991231000000001_step.sql:3: this statement may depend on rows.",
      "The password of publisher would be set.",
      "The live data set was built before db/data_set/check.sql changed. The next refresh uses the new file.",
    ];
    await exits(3, ["--plan"], ...lines);
    delete own.env.PUBLISHER_PASSWORD;
    const json = JSON.parse((await deploy("--plan", "--json")).output);
    expect(json.migrations).toMatchObject([{ name: "20991231000000001_step" }]);
    expect(await readAll(own.database.url)).toEqual(before);
    await exits(0, [], "before db/data_set/check.sql changed");
    await exits(0, ["--plan"]);
  });

  const usesNewFile = "changed. The next refresh uses the new file.";
  const changeType = async () => {
    await copy.edit("data_set/staging.sql", toVarchar);
    await copy.edit("contracts/api_v1_1_0.json", (text) =>
      text.replace('"auditee_zip", "type": "TEXT"', '"auditee_zip", "type": "VARCHAR(60)"'),
    );
  };
  const toVarchar = (text: string) => text.replace("  auditee_zip text", "  auditee_zip varchar(60)");

  it("says which types change with the next refresh; production then promises them, not the types until then", async () => {
    await changeType();
    const { output } = await deploy("--plan", "--promise");
    const [, now = "", later = ""] =
      /What changes:([\s\S]*)What changes with the next refresh:([\s\S]*)/.exec(output) ?? [];
    const yet = "Clients are promised nothing new yet, because the next refresh changes types.";
    expect(output).toContain(yet);
    expect(now).toContain("(no object differs)");
    expect(later).toContain("- column auditee_zip: text\n      + column auditee_zip: character varying(60)");
    await exits(0, ["--promise"], yet);
    const readTypes = () =>
      query(
        `select data_type, (select count(*)::integer from publication.promises) as promises
         from information_schema.columns where table_schema = 'api_v1_1_0' and column_name = 'auditee_zip'`,
      );
    expect(await readTypes()).toEqual([{ data_type: "text", promises: 0 }]);
    await exits(0, ["--promise"], yet, "Nothing to do.");
    const directory = await makeDirectory();
    await writeCsv(directory, "general", [submission(1)]);
    await withDefinitions({ "staging.sql": toVarchar }, () =>
      refreshHere(["--from", directory], { DATABASE_URL: own.database.url }),
    );
    await exits(0, ["--promise"]);
    expect(await readTypes()).toEqual([{ data_type: "character varying", promises: 1 }]);
  });

  it("refuses to change a type that clients were promised, as does the deployment; a rollback may", async () => {
    await exits(0, ["--promise", "--directory", "db"]);
    await changeType();
    const broken = "general.auditee_zip is “VARCHAR(60)” instead of “TEXT”";
    for (const args of [["--plan"], [], ["--promise"]]) {
      const { code, output } = await deploy(...args);
      expect([code, output]).toEqual([1, expect.stringContaining(broken)]);
      expect(output).not.toContain(usesNewFile);
    }
    await exits(0, ["--promise", "--roll-back"], `Breaking changes for clients:\n  api_v1_1_0: ${broken}`);
    await exits(1, ["--promise", "--directory", "db"], "general.auditee_zip is “TEXT” instead of");
  });

  it("says that a file awaits a refresh only until a refresh has used it", async () => {
    const awaits = "The live data set was built before db/data_set/check.sql changed.";
    await copy.edit("data_set/check.sql", (text) => `${text}\n-- More.\n`);
    await exits(0, [], awaits);
    await exits(0, ["--plan"], awaits);
    await withDefinitions({ "check.sql": (text) => `${text}\n-- More.\n` }, publish);
    await exits(0, ["--plan"], /^Nothing to deploy\.\nPlan \w+\n$/);
    await exits(3, ["--plan", "--directory", "db"], awaits);
  });

  it("refuses to plan on the server that it plans for, whose roles it could change", async () => {
    own.env.SCRATCH_URL = own.database.url;
    await exits(1, ["--plan"], "points to the server that the plan is for");
  });
});

it("deploys the approved plan, and refuses if the plan would differ now", async () => {
  await copy.addColumn();
  const [, hash = ""] = /^Plan (\w+)$/m.exec((await deploy("--plan")).output) ?? [];
  await query("create table access.notes ()");
  await exits(1, ["--plan-hash", hash, "--accept-drift"], `plan ${hash} was approved, but`);
  await query("drop table access.notes");
  await exits(0, ["--plan-hash", hash]);
  await exits(1, ["--plan-hash", hash], `plan ${hash} was approved, but`);
});

it("if a migration without a transaction fails, the plan says how to clean up; then it runs once", async () => {
  await copy.migrate("create table access.beside (id int);\ninsert into access.beside values (1), (1)", 1);
  const concurrently = "create unique index concurrently once on access.beside (id)";
  await copy.migrate(`-- No transaction: it has several of its own.\n${concurrently}`, 2);
  await exits(1, [], 'step.sql: could not create unique index "once"');
  expect((await deploy("--plan")).output).toContain("drop index access.once;");
  await query("drop index access.once; delete from access.beside");
  await exits(0, ["--accept-drift"]);
  await exits(0, [], "Nothing to do.");
});
