import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { $ } from "zx";
import { type CheckResult, checkRepository } from "../../../scripts/deploy/check-repository.ts";
import { type CheckTools, checkUpgrade } from "../../../scripts/deploy/check-upgrade.ts";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { lintSql } from "../../../scripts/deploy/lint-sql.ts";
import { writeSample } from "../../../scripts/sample/write-sample.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { type Copy, copyRepository, describeView, run, viewColumns, viewFile } from "./support.ts";

let server: ScratchServer;
let copy: Copy;
let tools: CheckTools;
beforeAll(async () => {
  server = await startScratchServer(findServerUrl());
  tools = { createDatabase: server.create, writeSample };
});
afterAll(() => server.close());
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

const warnings = (results: CheckResult[]) => results.flatMap((result) => result.warnings);
async function release(): Promise<void> {
  const git = $({ cwd: copy.directory, quiet: true });
  await git`git init -q`;
  await git`git add -A`;
  await git`git -c user.name=test -c user.email=test@example.gov commit -qm release`;
  await git`git tag v0.1.0`;
}

const failures = (results: CheckResult[]) =>
  results
    .filter(({ errors }) => errors.length > 0)
    .map(({ name, errors }) => `${name}: ${errors.join("\n")}`);

describe("db:check", () => {
  it("passes on this repository, on a PostgreSQL of its own", async () => {
    const { code, output } = await run("db-check", []);
    expect(output.match(/^(ok|FAIL)/gm)).toEqual(Array.from({ length: 7 }, () => "ok"));
    expect(code).toBe(0);
    expect(output).not.toContain("warning");
  });

  it("warns of columns in another order than the table's, and not of other names", async () => {
    await copy.write(viewFile, describeView(viewColumns.map((name) => `${name} as a_${name}`)));
    expect(warnings(await checkRepository(copy.directory, tools))).toEqual([]);
    await copy.write(viewFile, describeView([...viewColumns].reverse()));
    expect(warnings(await checkRepository(copy.directory, tools))).toEqual([
      "api_v1_1_0.additional_eins: its columns are not those of dissemination.additional_eins, in order, so deep pages are slow.",
    ]);
  });

  it("refuses what an API file may not do, with its line", async () => {
    await copy.edit(viewFile, (text) => `${text}\nupdate access.tiers set requests_at_a_time = 1;\n`);
    expect(failures(await checkRepository(copy.directory, tools)).join("\n")).toMatch(
      /db deploys on an empty database, and shows nothing suppressed: db\/api\/api_v1_1_0\/additional_eins\.sql:\d+:8: permission denied for schema access/,
    );
  });

  it("names everything that is wrong, each under its check", async () => {
    await copy.write(viewFile, describeView([...viewColumns, "report_id as other_id"]));
    await copy.write("migrations/20991231000000000_x.sql", "create table deployment.x ();\n");
    await copy.edit("contracts/types.ts", (text) => text.replace("audit_year", "audit_yeer"));
    const found = failures(await checkRepository(copy.directory, tools)).join("\n");
    expect(found).toContain(
      "db/migrations/20991231000000000_x.sql: say in the comment at its top what it locks",
    );
    expect(found).toContain("api_v1_1_0: additional_eins.other_id was added at the end. Write it down");
    expect(found).toContain("types for clients are up to date: Run npm run db:types.");
  });

  it("fails with --strict on a migration that may lose data or hold requests up, unless it says why", async () => {
    const write = (why: (rule: string) => string) =>
      copy.write(
        "migrations/20991231000000000_x.sql",
        [
          "-- Lock level: all of them.",
          `${why("lint/safety/banDropColumn")}alter table publication.data_sets drop column started_at;`,
          `${why("lint/safety/changingColumnType")}alter table access.tiers alter column limited_by type varchar(9);`,
          `${why("lint/safety/requireConcurrentIndexCreation")}create index x on access.api_keys (tier);`,
          `${why("lint/safety/addingNotNullField")}alter table access.api_keys alter column expires_at set not null;`,
          `${why("lint/safety/banDropTable")}drop table access.downloads cascade;`,
          `${why("lint/safety/banUpdateWithoutWhere")}update access.tiers set requests_at_a_time = 1;`,
        ].join("\n"),
      );
    await write(() => "");
    const strict = async () =>
      failures(await checkRepository(copy.directory, { ...tools, isStrict: true })).join("\n");
    expect(failures(await checkRepository(copy.directory, tools)).join("\n")).not.toContain(
      "banUpdateWithoutWhere",
    );
    const found = await strict();
    for (const rule of [
      "banDropColumn",
      "changingColumnType",
      "requireConcurrentIndexCreation",
      "addingNotNullField",
      "banDropTable",
      "banUpdateWithoutWhere",
    ])
      expect(found).toContain(rule);
    await write((rule) => `-- pgls-ignore ${rule}: nobody uses it.\n`);
    expect(await strict()).not.toMatch(
      /banDrop|changingColumnType|requireConcurrent|addingNotNull|banUpdate/,
    );
  });

  it("finds a migration that was changed after its release", { timeout: 120_000 }, async () => {
    await release();
    expect(await checkUpgrade(copy.directory, tools, [])).toEqual([]);
    await copy.edit("migrations/20261121201400000_create_deployments.sql", (text) =>
      text.replace("  link text not null,", "  link text not null,\n  reason text,"),
    );
    await expect(checkUpgrade(copy.directory, tools, [])).rejects.toThrow(
      "edited since:\n  db/migrations/20261121201400000_create_deployments.sql",
    );
  });

  it("upgrades the last release's database, and says what a rollback would lack", {
    timeout: 60_000,
  }, async () => {
    await release();
    await copy.edit("data_set/staging.sql", (text) =>
      text.replace("  auditee_city text,\n", "  auditee_city text,\n  auditee_county text,\n"),
    );
    await copy.edit("data_set/build.sql", (text) =>
      text.replace("  source.auditee_city,\n", "  source.auditee_city,\n  source.auditee_county,\n"),
    );
    await copy.edit("api/api_v1_1_0/general.sql", (text) =>
      text
        .replace(
          "general.is_secondary_auditors\n",
          "general.is_secondary_auditors,\n  general.auditee_county\n",
        )
        .concat("comment on column api_v1_1_0.general.auditee_county is 'County.';\n"),
    );
    const warnings: string[] = [];
    expect(await checkUpgrade(copy.directory, tools, warnings)).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^After it a data set of v0\.1\.0 cannot be rolled back to: .*\n {2}api_v1_1_0\.general serves general\.auditee_county/,
      ),
    ]);
  });

  it("finds a migration that fails only where data is", { timeout: 60_000 }, async () => {
    await release();
    await copy.write(
      "migrations/20991231000000000_x.sql",
      "-- Lock level: all.\nalter table publication.data_sets add constraint is_empty check (source = 'empty');\n",
    );
    await expect(
      deployDatabase(await server.create(), {}, { directory: copy.directory }),
    ).resolves.toBeTruthy();
    await expect(checkUpgrade(copy.directory, tools, [])).rejects.toThrow(
      'check constraint "is_empty" of relation "data_sets" is violated by some row',
    );
  });
});

describe("the lint of SQL", () => {
  it("finds errors of syntax, in PL/pgSQL bodies too, and what a migration would block", async () => {
    await copy.edit(viewFile, (text) =>
      text.replace("additional_eins.report_id,", "additional_eins.report_id,,"),
    );
    await copy.edit("api/request/decide.sql", (text) =>
      text.replace("if not found then", "if not found thn"),
    );
    await copy.write(
      "migrations/20991231000000000_x.sql",
      "-- Lock level: all of them.\nalter table access.tiers alter column name type varchar(9);\ncreate index x on access.api_keys (label);\n",
    );
    const findings = await lintSql(copy.directory);
    const seen = findings.map(({ file, rule, isError }) => [file.split("/").at(-1), rule, isError]);
    expect(seen).toContainEqual(["additional_eins.sql", "syntax", true]);
    expect(seen).toContainEqual(["decide.sql", "syntax", true]);
    expect(seen).toContainEqual(["20991231000000000_x.sql", "lint/safety/changingColumnType", false]);
    expect(seen).toContainEqual([
      "20991231000000000_x.sql",
      "lint/safety/requireConcurrentIndexCreation",
      false,
    ]);
  });

  it("finds nothing wrong in this repository", async () => {
    const { code } = await run("lint-sql", []);
    expect(code).toBe(0);
  });
});
