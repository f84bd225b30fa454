import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { beforeEach, describe, expect, it } from "vitest";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { readRefreshConfig } from "../../../scripts/refresh/refresh-config.ts";
import { startSchedule } from "../../../scripts/refresh/start-schedule.ts";
import { run, useCopy } from "../deploy/support.ts";
import { type Edits, useRefresh, withDefinitions } from "./support/refresh.ts";
import { id, listColumns, submission, writeCsv } from "./support/source-files.ts";

// What a refresh says about rows that may be suppressed names the file, the line, the column and the rule, but no value: messages
// and logs reach people and systems that may not see these rows. Only the file of rejected rows has values.

const here = useRefresh();
const file = (name: string) => path.join(here.directory, name);
const hidden = (number: number) =>
  submission(number, {
    is_public: "f",
    auditee_name: "SECRET & (",
    auditee_ein: "SECRETEIN",
    auditee_email: "SECRET@tribe.example",
  });

beforeEach(async () => {
  for (const name of await readdir(here.directory)) await rm(file(name), { recursive: true });
  await here.write("general", [submission(1), hidden(2), hidden(3)]);
});

/** Runs a dry run by hand, and the service. Each must fail. Returns the output of each. */
async function failEachWay(): Promise<string[]> {
  const { code, output } = await here.publish("--accept-shrink", "--dry-run");
  expect(code, output).toBe(1);
  let log = "";
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      log += String(chunk);
      done();
    },
  });
  const env = { DATABASE_URL: here.database.url, REFRESH_SOURCE: here.directory, REFRESH_PORT: "0" };
  const schedule = await startSchedule(readRefreshConfig(env), pino(stream));
  void schedule.refreshNow();
  const readMetrics = async () => (await fetch(`${schedule.url}/metrics`)).text();
  await expect.poll(readMetrics).toMatch(/refresh_runs_total\{outcome="failed"\} 1/);
  const metrics = await readMetrics();
  await schedule.close();
  return [output, log + metrics];
}

it.each<[string, () => Promise<unknown>, RegExp]>([
  [
    "a value of the wrong type, and a row with too many values",
    () => {
      const bad = { ...hidden(2), fac_accepted_date: "SECRETDATE" };
      return here.write("general", [submission(1), bad, { ...hidden(3), auditee_city: "SECRET,SECRET" }]);
    },
    /general\.csv:3: column fac_accepted_date is not a date .*general\.csv:4: the row has /s,
  ],
  [
    "the same report twice, and an award without a report",
    async () => {
      await here.write("general", [hidden(2), { ...hidden(2), auditee_name: "SECRET" }]);
      await here.write("federal_awards", [{ report_id: "SECRET" }]);
    },
    /general\.csv:3: column report_id is a duplicate with other values: first at \S+general\.csv:2\b/,
  ],
  [
    "a row that does not end",
    () => writeFile(file("findings.csv"), `${listColumns("findings")}\n"SECRET${"x".repeat(3 << 20)}`),
    /findings\.csv:2: the rest of the file cannot be read: column report_id does not end within 2 MB/,
  ],
  [
    "a file without a header",
    () => writeFile(file("additional_ueis.csv"), `${id(2)},SECRET\n${id(3)},SECRET\n`),
    /additional_ueis\.csv:1: unknown columns at 1, 2/,
  ],
  [
    "a header and a row that are one line",
    () => writeFile(file("additional_ueis.csv"), `report_id,additional_uei\r${id(2)},SECRET\r`),
    /additional_ueis\.csv:1: unknown columns at 2, 3/,
  ],
])("what files contain is not shown: %s", async (_what, prepare, rule) => {
  await prepare();
  for (const output of await failEachWay()) {
    expect(output).not.toContain("SECRET");
    expect(output).toMatch(rule);
  }
});

const append = (name: string, more: string): Edits => ({ [name]: (sql) => `${sql}\n${more};\n` });
it.each<[string, Edits, RegExp]>([
  [
    "a type that a row does not have",
    append("staging.sql", "alter table staging.general alter auditee_name type uuid using null"),
    /general\.csv: invalid input syntax for type uuid: … \(COPY general, line 2, column auditee_name\)/,
  ],
  [
    "a constraint that a row breaks while it is copied",
    append("staging.sql", "alter table staging.general add constraint nameless check (auditee_name is null)"),
    /general\.csv: new row .* violates check constraint \\?"nameless\\?" \(COPY general, line 2\)/,
  ],
  [
    "a key that rows share",
    append("build.sql", "create unique index once on suppressed_next.general (auditee_name)"),
    /db\/data_set\/build\.sql: could not create unique index \\?"once\\?"/,
  ],
  [
    "a row that breaks a constraint later",
    append("build.sql", "update suppressed_next.general set report_id = null"),
    /db\/data_set\/build\.sql: null value in column \\?"report_id\\?"/,
  ],
  [
    "a value that cannot be cast",
    append("build.sql", "select auditee_name::integer from suppressed_next.general"),
    /db\/data_set\/build\.sql: invalid input syntax for type integer: …/,
  ],
  [
    "a value that cannot be parsed",
    append("build.sql", "select to_tsquery(auditee_name) from suppressed_next.general"),
    /db\/data_set\/build\.sql: no operand in tsquery: …/,
  ],
])("what PostgreSQL quotes is not shown: %s", async (_what, edits, rule) => {
  await withDefinitions(edits, async () => {
    for (const output of await failEachWay()) {
      expect(output).not.toContain("SECRET");
      expect(output).toMatch(rule);
    }
  });
});

describe("a deployment", () => {
  const copy = useCopy();

  it("does not show rows that make a migration fail", async () => {
    await here.load();
    await copy.migrate("do $$ begin perform auditee_name::integer from suppressed.general; end $$");
    const args = ["--directory", copy.directory, "--accept-unknown-release"];
    const { code, output } = await run(runDeploy, args, { DATABASE_URL: here.database.url });
    expect([code, output]).toEqual([1, expect.stringContaining("invalid input syntax for type integer: …")]);
    expect(output).not.toContain("SECRET");
  });
});

it.each([
  ["that did not exist", undefined],
  ["that everyone could read", 0o644],
])("the file of rejected rows is its owner's alone, even one %s", async (_what, mode) => {
  const rejects = file("rejects.csv");
  if (mode !== undefined) {
    await writeFile(rejects, "old");
    await chmod(rejects, mode);
  }
  await writeCsv(here.directory, "general", [submission(1), { ...hidden(2), fac_accepted_date: "SECRET" }]);
  const args = ["--dry-run", "--tolerate", "1", "--rejects", rejects, "--accept-shrink"];
  const { code, output } = await here.publish(...args);
  expect([code, output]).toEqual([0, expect.stringContaining(`${rejects}, which only you can read`)]);
  expect(output).not.toContain("SECRET");
  expect(await readFile(rejects, "utf8")).toContain("SECRET");
  expect((await stat(rejects)).mode & 0o777).toBe(0o600);
});
