import { expect, it } from "vitest";
import { useCopies } from "../../support/scratch-database.ts";
import { useRefresh, withDefinitions } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

const here = useRefresh();
const { list, refresh, select } = here;
const release = (number: number) => refresh("--release", id(number));
const seePublic = (table: string) =>
  list(`select right(report_id, 1)::int from disclosed.${table} order by 1`);

/** Writes source files. In the older ones all reports are public; the newer ones suppress 2 and 4, which replaces 3. */
async function write(age: "older" | "newer"): Promise<void> {
  const more = age === "newer" ? { is_public: "f" } : {};
  const superseded = { resubmission_status: "deprecated_via_resubmission" };
  const reports = [submission(1), submission(2, more), submission(3, superseded), submission(4, more)];
  await here.write("general", reports);
  const awards = [1, 2, 4].map((number) => ({ report_id: id(number), award_reference: "AWARD-0001" }));
  await here.write("federal_awards", awards);
  await here.write("resubmission", [
    { report_id: id(3), version: "1", status: "deprecated_via_resubmission", next_report_id: id(4) },
    { report_id: id(4), version: "2", status: "most_recent", previous_report_id: id(3) },
  ]);
}
async function publish(age: "older" | "newer", ...args: string[]): Promise<string> {
  await write(age);
  const { code, output } = await here.publish("--accept-shrink", ...args);
  expect(code, output).toBe(0);
  return output;
}

useCopies(here.database, async () => {
  await publish("older", "--force");
  expect(await seePublic("general")).toEqual([1, 2, 4]);
  await publish("newer", "--force");
  expect(await seePublic("general")).toEqual([1, 3]);
});

it("older files do not make a suppressed report public in any table, and the refresh names it", async () => {
  const since = await select("select * from publication.suppressed_reports order by report_id");
  expect(since.map(({ report_id }) => report_id)).toEqual([2, 4].map(id));
  expect(await publish("older", "--force")).toContain(
    `2 reports stay suppressed, although the source files mark them as public: ${id(2)}, ${id(4)}. ` +
      "They were suppressed in an earlier data set. To make a report public, run npm run refresh -- --release REPORT_ID and refresh again.",
  );
  expect(await seePublic("general")).toEqual([1, 3]);
  expect(await seePublic("federal_awards")).toEqual([1]);
  expect(await seePublic("general_stubs")).toEqual([2, 4]);
  const awards = await list("select right(report_id, 1)::int from suppressed.federal_awards order by 1");
  expect(awards).toEqual([2, 4]);
  expect(await list("select is_public from suppressed.general")).toEqual([false, false]);
  // The superseded public report does not reveal its suppressed successor.
  expect(await seePublic("resubmission")).toEqual([]);
  const kept = "select unnest(kept_suppressed) from publication.data_sets where state = 'live'";
  expect(await list(kept)).toEqual([2, 4].map(id));
  // The date of the first suppression is kept.
  expect(await select("select * from publication.suppressed_reports order by report_id")).toEqual(since);
});

it("a dry run also names reports that stay suppressed, and records nothing", async () => {
  expect(await publish("older", "--dry-run")).toContain("2 reports stay suppressed");
  await select("delete from publication.suppressed_reports");
  expect(await publish("newer", "--dry-run")).not.toContain("suppressed, although");
  expect(await list("select * from publication.suppressed_reports")).toEqual([]);
});

it.each([
  "truncate publication.suppressed_reports",
  "update publication.suppressed_reports set report_id = 'x'",
])("the owner cannot bypass the ledger with %s", async (statement) => {
  await expect(select(statement)).rejects.toThrow("publication.suppressed_reports does not allow");
});

it("a rollback that would make a suppressed report public is refused until the report is released", async () => {
  // Report 3 is superseded, so the previous data set has it only in resubmission.
  await select("insert into publication.suppressed_reports (report_id) values ($1)", [id(3)]);
  const live = await here.liveId();
  expect(await refresh("--rollback")).toEqual({
    code: 1,
    output: `The previous data set would make these reports public, but they were suppressed later: ${[2, 3, 4].map(id).join(", ")}. Nothing has changed.
To publish the files of that data set with these reports suppressed, run npm run refresh -- --from ${here.directory} --force --accept-shrink --accept-growth.
To make a report public again, run npm run refresh -- --release REPORT_ID, then roll back.
`,
  });
  expect(await here.liveId()).toBe(live);
  for (const number of [2, 3, 4]) await release(number);
  expect(await refresh("--rollback")).toMatchObject({ code: 0 });
  expect(await seePublic("general")).toEqual([1, 2, 4]);
});

it("the leak check refuses a build or a function that would make a suppressed report public", async () => {
  const change = (sql: string) => sql.replace(/(update staging\.reports set is_public =) false/, "$1 true");
  await write("older");
  await expect(withDefinitions({ "reject_rows.sql": change }, here.load)).rejects.toThrow(
    /Suppressed submissions are visible, or would be:\n {2}disclosed_next\.\w+ reveals data of suppressed submissions/,
  );
  const [sql] = await list("select pg_get_functiondef('publication.is_public_report(text)'::regprocedure)");
  await select(String(sql).replace("return exists", "return true or exists"));
  await write("newer");
  await expect(here.load()).rejects.toThrow(
    "Unlisted: function publication.is_public_report(text) runs as the deploying role",
  );
  await select(String(sql));
  await here.load();
});

it("what no row decides is refused before the files are read", async () => {
  await write("older");
  await select("create table public.notes as select 1 as id; grant select on public.notes to public");
  await select("grant usage on schema public to api_public");
  const { code, output } = await here
    .publish("--force")
    .finally(() => select("drop table public.notes; revoke usage on schema public from api_public"));
  expect(code).toBe(1);
  expect(output).toContain("Unlisted: PUBLIC may select on table public.notes.");
  expect(output).not.toContain("general.csv: ");
});

it("a released report is public after a refresh of the same files, and an event names who released it", async () => {
  await publish("older", "--force");
  expect(await publish("older")).toContain("nothing to do");
  const output = `Released ${id(2)}. The next refresh makes it public if the source files mark it as public.\n`;
  expect(await refresh("--release", id(2), "--operator", "Ada")).toEqual({ code: 0, output });
  expect(await seePublic("general")).toEqual([1, 3]);
  expect(await publish("older")).toContain("1 report stays suppressed, although");
  expect(await seePublic("general")).toEqual([1, 2, 3]);
  const [event] = await select("select *, session_user from access.events order by id desc limit 1");
  expect(event).toMatchObject({
    database_role: event.session_user,
    operator: "Ada",
    subject: "suppressed_reports",
    subject_id: id(2),
    action: "delete",
    before: { report_id: id(2), suppressed_since: expect.any(String) },
  });
});

it("files can suppress a released report again; releasing a report that was not suppressed is refused", async () => {
  await release(2);
  await publish("newer", "--force");
  await publish("older", "--force");
  expect(await seePublic("general")).toEqual([1, 3]);
  const output = expect.stringContaining(`The report ${id(1)} is not in publication.suppressed_reports.`);
  expect(await release(1)).toEqual({ code: 1, output });
});

// db/contracts/rights.txt lists the publisher's rights on whole tables.
it("the publisher may add suppressed reports, but not change them or set suppressed_since", async () => {
  const privileges = await list(
    `select has_any_column_privilege('publisher', oid, 'insert') as adds,
       has_any_column_privilege('publisher', oid, 'update') as changes,
       has_column_privilege('publisher', oid, 'suppressed_since', 'insert') as dates
     from to_regclass('publication.suppressed_reports') as oid`,
  );
  expect(privileges).toEqual([true, false, false]);
});
