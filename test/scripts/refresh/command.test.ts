import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { connect } from "../../../shared/connect.ts";
import { useRefresh } from "./support/refresh.ts";
import { submission } from "./support/source-files.ts";

// Covers `npm run refresh`. Each test continues from the previous one.

const here = useRefresh();
const { list, liveId, publish, select } = here;
/** Writes submissions with these numbers. Number 2 is suppressed, the others are public. */
const write = (...numbers: number[]) => {
  const isPublic = (number: number) => ({ is_public: number === 2 ? "f" : "t" });
  const rows = numbers.map((number) => submission(number, isPublic(number)));
  return here.write("general", rows);
};

it("publishes, does nothing the second time, and publishes again when forced", async () => {
  await write(1, 2);
  const first = await publish();
  const published = /Published data set \S+ in [\d.]+ s\.\n {2}general: 1 public rows, 1 suppressed/;
  expect(first).toEqual({ code: 0, output: expect.stringMatching(published) });
  const before = await liveId();
  expect(await publish()).toEqual({ code: 0, output: expect.stringMatching(/nothing to do\. .*--force/) });
  expect(await liveId()).toBe(before);
  expect(await publish("--force")).toMatchObject({ code: 0 });
  expect(await liveId()).not.toBe(before);
});

it("reads, checks and reports in a dry run, and changes nothing", async () => {
  const state = async () => [
    await select("select id, state from publication.data_sets order by id"),
    await list("select nspname from pg_namespace order by nspname"),
    await readdir(here.publicData),
  ];
  const before = await state();
  await write(7, 8, 2);
  const refused = await publish("--dry-run");
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining("differs too much")]);
  const accepted = await publish("--dry-run", "--accept-shrink");
  expect(accepted.output).toMatch(
    /Dry run finished in [\d.]+ s\. Nothing has changed\. A refresh would publish:\n {2}general: 2 public rows, 1 suppressed\n/,
  );
  expect(accepted.code).toBe(0);
  await here.write("general", [submission(1, { is_public: "perhaps" })]);
  for (const args of [["--dry-run"], []]) {
    const { code, output } = await publish(...args);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("general.csv:2: column is_public is not a boolean"),
    ]);
    expect(output).not.toMatch(/^ +at /m);
  }
  expect(await state()).toEqual(before);
});

it("rolls back without copying a table, remembers the rollback, and undoes it", async () => {
  await write(1, 2, 3);
  await publish("--accept-shrink");
  const withdrawn = await liveId();
  const listFiles = (schema: string) =>
    list(`select relfilenode from pg_class where relnamespace = '${schema}'::regnamespace order by relname`);
  const files = await listFiles("disclosed_previous");
  expect(await here.refresh("--rollback")).toEqual({
    code: 0,
    output: expect.stringMatching(/is live again \([\d.]+ s\)/),
  });
  expect(await listFiles("disclosed")).toEqual(files);
  expect(await liveId()).not.toBe(withdrawn);
  expect(await list("select right(report_id, 1) from disclosed.general")).toEqual(["1"]);
  const skipped = expect.stringMatching(/were rolled back at .* add --force/);
  expect(await publish()).toEqual({ code: 0, output: skipped });
  const [, previous] = JSON.parse((await here.refresh("--status", "--json")).output);
  expect(previous).toMatchObject({ id: withdrawn, state: "previous", rolled_back_at: expect.any(String) });
  expect((await here.refresh("--status")).output).toMatch(/^live .*^previous, rolled back /ms);
  await here.refresh("--rollback");
  expect(await liveId()).toBe(withdrawn);
  expect((await here.refresh("--status")).output).not.toContain("rolled back");
});

it("keeps two generations and their bulk files, and no more", async () => {
  for (const number of [4, 5]) {
    await write(1, 2, number);
    await publish();
  }
  const schemas =
    "select nspname from pg_namespace where nspname ~ '^(disclosed|suppressed|staging)' order by 1";
  const live = ["disclosed", "disclosed_previous", "suppressed", "suppressed_previous"];
  expect(await list(schemas)).toEqual(live);
  const ids = await list("select id from publication.data_sets where state <> 'dropped' order by id");
  const kept = (await readdir(here.publicData)).filter((name) => !name.startsWith("changes-"));
  expect(kept.sort()).toEqual([...ids, "manifest.json"]);
});

it("names a data set that a query still reads, and the next refresh drops it", async () => {
  const other = await connect(here.database.url, "test");
  await other.query("begin; select from disclosed_previous.general");
  const dropped = "select to_regnamespace('disclosed_dropped') is not null";
  await write(1, 2, 6);
  expect(await publish().finally(() => other.end())).toEqual({
    code: 0,
    output: expect.stringContaining("could not be dropped. The next refresh drops it. Gave up"),
  });
  expect(await list(dropped)).toEqual([true]);
  await publish("--force");
  expect(await list(dropped)).toEqual([false]);
});

it("says that another refresh is running, and exits with status 3", async () => {
  const other = await connect(here.database.url, "test");
  await other.query("select pg_advisory_lock(hashtext('publication'))");
  expect(await publish("--force").finally(() => other.end())).toEqual({
    code: 3,
    output: expect.stringMatching(/A refresh, a rollback or .* is running: .*\. Try again when it has ended/),
  });
});
