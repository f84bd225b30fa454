import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { $ } from "zx";
import { checkRepository } from "../../../scripts/deploy/check-repository.ts";
import { checkUpgrade } from "../../../scripts/deploy/check-upgrade.ts";
import { writeSample } from "../../../scripts/sample/write-sample.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { type Copy, copyRepository, describeView, run, viewColumns, viewFile } from "./support.ts";

let server: ScratchServer;
let copy: Copy;
beforeAll(async () => {
  server = await startScratchServer(findServerUrl());
});
afterAll(() => server.close());
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

const tools = { createDatabase: () => server.create(), writeSample };
const check = async (isStrict = false) => {
  const results = await checkRepository(copy.directory, tools, isStrict);
  const list = (part: "errors" | "warnings") =>
    results.flatMap((result) => result[part].map((line) => `${result.name}: ${line}`)).join("\n");
  return { errors: list("errors"), warnings: list("warnings") };
};

it("db:check passes on this repository, on a PostgreSQL of its own", async () => {
  const { code, output } = await run("db-check", ["--strict"]);
  expect(output).not.toMatch(/FAIL|warning/);
  expect(code).toBe(0);
});

it("db:check names everything that is wrong, each under its check", async () => {
  await copy.write(viewFile, describeView([...viewColumns, "report_id as other_id"].reverse()));
  await copy.edit("api/request/decide.sql", (text) => text.replace("if not found then", "if not found thn"));
  await copy.write("migrations/20991231000000000_x.sql", "create table deployment.x ();\n");
  const broken = await check();
  expect(broken.errors).toContain("20991231000000000_x.sql: say at its top what it locks");
  expect(broken.errors).toMatch(/lint: [\s\S]*decide\.sql/);
  expect(broken.errors).toMatch(/shows nothing suppressed: db\/api\/request\/decide\.sql:\d+:\d+: missing/);
  await copy.edit("api/request/decide.sql", (text) => text.replace("if not found thn", "if not found then"));
  const stale = await check();
  expect(stale.errors).toContain("additional_eins.other_id was added. Write it down: npm run db:contract");
  expect(stale.warnings).toContain("api_v1_1_0.additional_eins: its columns are not those of dissemination.");
});

it("db:check --strict fails on a migration that may lose data or block requests, unless it says why", async () => {
  const statements = {
    banDropColumn: "alter table publication.data_sets drop column started_at",
    changingColumnType: "alter table access.tiers alter column limited_by type varchar(9)",
    requireConcurrentIndexCreation: "create index x on access.api_keys (tier)",
    addingNotNullField: "alter table access.api_keys alter column expires_at set not null",
    banDropTable: "drop table access.downloads cascade",
    banUpdateWithoutWhere: "update access.tiers set requests_at_a_time = 1",
  };
  const write = async (why: (rule: string) => string) =>
    await copy.write(
      "migrations/20991231000000000_x.sql",
      [
        "-- Lock level: all of them.",
        ...Object.entries(statements).map(([rule, sql]) => `${why(rule)}${sql};`),
      ].join("\n"),
    );
  await write(() => "");
  expect((await check()).errors).not.toContain("banUpdateWithoutWhere");
  const { errors } = await check(true);
  for (const rule of Object.keys(statements)) expect(errors).toContain(rule);
  await write((rule) => `-- pgls-ignore lint/safety/${rule}: nobody uses it.\n`);
  const justified = (await check(true)).errors;
  for (const rule of Object.keys(statements)) expect(justified).not.toContain(`lint/safety/${rule} ━`);
});

it("db:check upgrades a database of the last release, and fails where a migration does not fit its data", async () => {
  const git = $({ cwd: copy.directory, quiet: true });
  await git`git init -q`;
  await git`git add -A`;
  await git`git -c user.name=test -c user.email=test@example.gov commit -qm release`;
  await git`git tag v0.1.0`;
  await copy.write(
    "migrations/20991231000000000_x.sql",
    "-- Lock level: all.\nalter table publication.data_sets add column note text;\n",
  );
  expect(await checkUpgrade(copy.directory, tools)).toEqual([]);
  await copy.write(
    "migrations/20991231000000000_x.sql",
    "-- Lock level: all.\nalter table publication.data_sets add constraint is_empty check (source = 'empty');\n",
  );
  await expect(checkUpgrade(copy.directory, tools)).rejects.toThrow(
    'check constraint "is_empty" of relation "data_sets" is violated by some row',
  );
});
