import { expect, it } from "vitest";
import { checkMigrationNames } from "../../../scripts/deploy/check-migration-names.ts";
import { runCheck } from "../../../scripts/deploy/check-program.ts";
import { type Migration, readFiles } from "../../../scripts/deploy/read-files.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { run, useCopy, viewFile } from "./support.ts";

const copy = useCopy();
const check = (...args: string[]) =>
  run(runCheck, ["--directory", copy.directory, ...args], { SCRATCH_URL: findServerUrl() });

it("db:check passes on this repository, with a PostgreSQL server that it starts", async () => {
  const { code, output } = await run(runCheck, ["--strict"]);
  expect([code, output]).toEqual([0, expect.stringMatching(/^(ok .*\n)+$/)]);
});

it("db:check reports all problems at once", async () => {
  await copy.edit("api/request/decide.sql", (text) =>
    text.replace("is_switched_on then", "is_switched_on thn"),
  );
  const { code, output } = await check();
  expect(code).toBe(1);
  expect(output).toMatch(/FAIL lint[\s\S]*decide\.sql[\s\S]*FAIL db deploys to an empty database/);
  expect(output).toMatch(/ db\/api\/request\/decide\.sql:\d+:\d+: missing/);
  expect(output).not.toMatch(/db\/contracts|migrations stay/);
});

it("db:check refuses a released migration that was edited or renamed", async () => {
  const [first = "", second = ""] = (await readFiles(copy.directory)).migrations.map(({ id }) => id);
  await copy.edit(`migrations/${first}.sql`, (text) => `${text}-- More.\n`);
  await copy.write(`migrations/${second}_renamed.sql`, await copy.read(`migrations/${second}.sql`));
  await copy.remove(`migrations/${second}.sql`);
  const { code, output } = await check();
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(
        `FAIL released[^\\n]*\\n.*${first}\\.sql is released, but was edited[^\\n]*\\n.*${second}\\.sql .* is missing`,
      ),
    ),
  ]);
});

it("db:check shows changes to a contract, and writes them if asked", async () => {
  await copy.addColumn();
  const stale = await check();
  expect(stale).toMatchObject({ code: 1, output: expect.stringContaining("other_id was added\n") });
  expect((await check("--write")).code).toBe(0);
  expect((await check()).code).toBe(0);
  expect(await copy.read("contracts/api_v1_1_0.json")).toMatch(/"name": "other_id", "type": "TEXT" }/);
});

it("db:check says which migrations have no usable date, and which columns have no label", async () => {
  const tomorrow = new Date(Date.now() + 20 * 60 * 60 * 1000).toISOString().replaceAll(/\D/g, "");
  const wrong = [
    "20991231000000000_later",
    "20261126_short",
    "20261331000000000_no_month",
    "2026 Add-Column",
  ];
  for (const name of [...wrong, `${tomorrow}_tomorrow`])
    await copy.write(`migrations/${name}.sql`, "select 1;\n");
  await copy.addColumn();
  await copy.edit(viewFile, (text) => text.replace("E'Other ID\\nA column.'", "'A column.'"));
  const { code, output } = await check();
  expect(code).toBe(1);
  const [, migrations = ""] = /FAIL migrations[^\n]*\n([\s\S]*?)\nok/.exec(output) ?? [];
  expect(migrations.split("\n").map((line) => line.trim())).toEqual([
    expect.stringMatching(/git mv \$'db\/migrations\/2026 Add-Column\.sql' .*\/\d{17}_add_column\.sql$/),
    expect.stringMatching(
      /^db\/migrations\/20261126_short\.sql: its name should be the time .*git mv .*\/\d{17}_short\.sql$/,
    ),
    expect.stringMatching(/20261331000000000_no_month\.sql: its name should be the time/),
    expect.stringMatching(/20991231000000000_later\.sql: its date is in the future\. Rename it: git mv/),
  ]);
  const renamed = [...migrations.matchAll(/ db\/migrations\/(\S+)\.sql$/gm)].map(([, id = ""]) => ({ id }));
  expect([renamed.length, checkMigrationNames(renamed as Migration[])]).toEqual([4, []]);
  expect(output).toContain("api_v1_1_0.additional_eins.other_id: The comment of this column needs a label");
});

it("a file whose name ends with .SQL is refused, because it would be ignored", async () => {
  for (const folder of ["migrations", "data_set", "api/api_v1_1_0"]) {
    await copy.write(`${folder}/a b.SQL`, "select 1;\n");
    await expect(readFiles(copy.directory)).rejects.toThrow(
      `git mv $'db/${folder}/a b.SQL' $'db/${folder}/a b.sql'`,
    );
    await copy.remove(`${folder}/a b.SQL`);
  }
});

it("a checkout with other line endings has the same hashes", async () => {
  const { migrations, api, sha256 } = await readFiles(copy.directory);
  for (const file of ["migrations/20261128000005000_create_tiers.sql", "data_set/build.sql", viewFile])
    await copy.edit(file, (text) => text.replaceAll("\n", "\r\n"));
  expect(await readFiles(copy.directory)).toMatchObject({ migrations, api, sha256 });
});

it("db:check refuses a function that calls one not on the list, and says which file to change", async () => {
  const add = (name: string, body: string) => `
    create function api_v1_1_0.${name}() returns text language sql stable begin atomic select ${body}; end;
    comment on function api_v1_1_0.${name}() is 'Test.';
    grant execute on function api_v1_1_0.${name}() to api_public;`;
  await copy.write(
    "api/api_v1_1_0/zz.sql",
    add("last_week", "table_to_xml(to_regclass('disclosed_previous.general'), true, false, '')::text") +
      add("zone", "current_setting('TimeZone')"),
  );
  const { code, output } = await check();
  expect(code).toBe(1);
  for (const line of [
    "api_v1_1_0.last_week(): This function calls table_to_xml(regclass,boolean,boolean,text), which takes the name or ID of an object",
    "api_v1_1_0.last_week(): This function calls to_regclass(text), which is not in the list",
    "api_v1_1_0.zone(): This function calls current_setting(text), which is not in the list of functions that read nothing by name. API functions may call functions of API schemas and \"request\", immutable functions of pg_catalog, and the stable ones in db/deployment/broken_rules.sql. If no text that it takes names an object, a setting or a query, add its name to that list: 'current_setting'",
  ])
    expect(output).toContain(line);
});

it("db:check refuses a relationship to one row that does not compare a whole key", async () => {
  const relate = (name: string, conditions: string, returns = "setof api_v1_1_0.federal_awards rows 1") => `
    create function api_v1_1_0.${name}(api_v1_1_0.passthrough) returns ${returns} language sql stable
    begin atomic select federal_awards.* from api_v1_1_0.federal_awards where ${conditions}; end;
    comment on function api_v1_1_0.${name}(api_v1_1_0.passthrough) is 'Test.';`;
  const report = "federal_awards.report_id = $1.report_id";
  const award = "federal_awards.award_reference = $1.award_reference";
  await copy.write(
    "api/api_v1_1_0/zz.sql",
    relate("right", `${award} and ${report}`) +
      relate("part", report) +
      relate("first", report, "api_v1_1_0.federal_awards") +
      relate("either", `${report} or ${award}`) +
      relate("other", `${report} and ${award} and federal_awards.is_major = 'Y'`),
  );
  const { code, output } = await check();
  expect(code).toBe(1);
  const refused = [
    ...output.matchAll(/api_v1_1_0\.(\w+)\(api_v1_1_0\.passthrough\): A relationship to one row must/g),
  ];
  expect(refused.map(([, name]) => name).sort()).toEqual(["either", "first", "other", "part"]);
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
  const findRules = async (why: (rule: string) => string, ...args: string[]) => {
    await copy.migrate(
      Object.entries(statements)
        .map(([rule, sql]) => `${why(rule)}${sql}`)
        .join(";\n"),
    );
    const { output } = await check(...args);
    return Object.keys(statements).filter((rule) => output.includes(`lint/safety/${rule} ━`));
  };
  expect(await findRules(() => "", "--strict")).toEqual(Object.keys(statements));
  expect(
    await findRules((rule) => `-- pgls-ignore lint/safety/${rule}: nobody uses it.\n`, "--strict"),
  ).toEqual([]);
});
