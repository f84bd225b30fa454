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

  it("prints what would change, and changes nothing", async () => {
    await copy.addColumn();
    await copy.migrate("create table deployment.more ()");
    await copy.edit("data_set/reject_rows.sql", (text) => `${text}\n-- More.\n`);
    own.env.PUBLISHER_PASSWORD = "secret";
    const before = await readAll(own.database.url);
    const lines = [
      "Migration 20991231000000001_step would run:\n    create table deployment.more ();",
      "~ view api_v1_1_0.additional_eins",
      "+ column other_id: text",
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

  it("lists each statement's locks on existing tables, what they block, and what is rewritten or read", async () => {
    await copy.migrate(
      `create table access.beside (id integer);
       alter table access.beside alter column id type bigint;
       alter table access.downloads alter column report_id type varchar(40);
       alter table access.downloads add constraint report_id_is_short check (length(report_id) < 40);
       select data_set.add_column('general', 'extra', 'text');
       update access.tiers set requests_at_a_time = 4;
       truncate access.access_tokens`,
    );
    await copy.migrate(
      "-- No transaction: it has several of its own.\ncreate index concurrently more on access.downloads (report_id)",
      2,
    );
    await copy.migrate("create index less on access.downloads (requested_at)", 3);
    const all = "(ACCESS EXCLUSIVE, which blocks reads and writes)";
    const expected = [
      [
        `ALTER TABLE access.downloads: rewrites access.downloads, locks access.downloads ${all}, reads every row of access.downloads`,
        "ALTER TABLE access.downloads: reads every row of access.downloads",
        expect.stringContaining(`ALTER TABLE disclosed.general: locks`),
        `ALTER TABLE suppressed.general: locks suppressed.general ${all}`,
        `CREATE VIEW dissemination.general: locks dissemination.general ${all}`,
        `Other statements: locks access.access_tokens ${all}, locks access.tiers (ROW EXCLUSIVE, which blocks changes to the same rows), rewrites access.access_tokens`,
      ],
      ["CREATE INDEX access.more: reads every row of access.downloads"],
      [
        "CREATE INDEX access.less: locks access.downloads (SHARE, which blocks writes), reads every row of access.downloads",
      ],
    ];
    const { migrations } = JSON.parse((await deploy("--plan", "--json")).output);
    expect(migrations.map(({ effects }: { effects: string[] }) => effects)).toEqual(expected);
    await exits(
      3,
      ["--plan"],
      "\n  Until it commits, it holds these locks on existing tables:\n    ALTER TABLE access.downloads: rewrites",
    );
  });

  it("lists the rights that roles gain and lose", async () => {
    await copy.migrate(
      "grant select on deployment.rights to deployment_planner; revoke select on access.settings from deployment_planner",
    );
    await copy.edit(
      "contracts/rights.txt",
      (text) =>
        `${text.replace(/^deployment_planner may select on table access\.settings\n/m, "")}deployment_planner may select on table deployment.rights\n`,
    );
    await exits(
      3,
      ["--plan"],
      "- deployment_planner may select on table access.settings\n  + deployment_planner may select on table deployment.rights",
    );
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
