import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../support/make-directory.ts";
import { refreshHere } from "../refresh/support/refresh.ts";
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
    await copy.edit("data_set/reject_rows.sql", (text) => `${text}\n-- More.\n`);
    own.env.PUBLISHER_PASSWORD = "secret";
    const before = await readAll(own.database.url);
    const lines = [
      "Migration 20991231000000001_step would run:\n    create table deployment.more ();",
      "~ view api_v1_1_0.additional_eins",
      "+ column other_id: text",
      "db/migrations/20991231000000001_step.sql:2: this statement fails if rows have duplicate values.",
      "db/migrations/20991231000000001_step.sql:3: this statement may depend on rows.",
      "The password of publisher would be set.",
    ];
    await exits(3, ["--plan"], ...lines);
    delete own.env.PUBLISHER_PASSWORD;
    const json = JSON.parse((await deploy("--plan", "--json")).output);
    expect(json.migrations).toMatchObject([{ name: "20991231000000001_step" }]);
    expect(await readAll(own.database.url)).toEqual(before);
    await exits(0, []);
    await exits(0, ["--plan"]);
  });

  it("refuses to plan on the server that it plans for, whose roles it could change", async () => {
    await copy.addColumn();
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
