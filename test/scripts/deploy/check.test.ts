import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCheck } from "../../../scripts/deploy/check-program.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  run,
  viewColumns,
  viewFile,
} from "./support.ts";

let copy: Copy;
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

const check = (...args: string[]) =>
  run(runCheck, ["--directory", copy.directory, ...args], { SCRATCH_URL: findServerUrl() });

it("db:check passes on this repository, on a PostgreSQL of its own", async () => {
  const { code, output } = await run("db-check", ["--strict"]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^(ok .*\n)+$/)]);
});

it("db:check names everything that is wrong", async () => {
  await copy.edit("api/request/decide.sql", (text) => text.replace("if not found then", "if not found thn"));
  const { code, output } = await check();
  expect(code).toBe(1);
  expect(output).not.toMatch(/db\/contracts|migrations ran/);
  expect(output).toMatch(/FAIL lint[\s\S]*decide\.sql[\s\S]*FAIL db deploys to an empty database/);
  expect(output).toMatch(/ db\/api\/request\/decide\.sql:\d+:\d+: missing/);
});

it("db:check shows what clients would notice, and writes it", async () => {
  await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
  const stale = await check();
  expect([stale.code, stale.output]).toEqual([
    1,
    expect.stringContaining("additional_eins.other_id was added\n"),
  ]);
  expect((await check("--write")).code).toBe(0);
  expect((await check()).code).toBe(0);
  const read = (file: string) => readFile(path.join(copy.directory, "contracts", file), "utf8");
  expect(await read("api_v1_1_0.json")).toMatch(/"name": "other_id", "type": "TEXT" }/);
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
  const write = async (why: (rule: string) => string) => {
    const lines = Object.entries(statements).map(([rule, sql]) => `${why(rule)}${sql};\n`);
    await copy.write("migrations/20991231000000000_x.sql", `-- Lock level: all.\n${lines.join("")}`);
  };
  await write(() => "");
  expect((await check()).output).not.toContain("banUpdateWithoutWhere");
  const { output } = await check("--strict");
  for (const rule of Object.keys(statements)) expect(output).toContain(`lint/safety/${rule} ━`);
  await write((rule) => `-- pgls-ignore lint/safety/${rule}: nobody uses it.\n`);
  const justified = (await check("--strict")).output;
  for (const rule of Object.keys(statements)) expect(justified).not.toContain(`lint/safety/${rule} ━`);
});
