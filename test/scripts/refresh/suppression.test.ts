import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { definitionsDirectory } from "../../../scripts/refresh/read-definition.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { refreshHere } from "./support/refresh.ts";
import { id, makeDirectory, type Row, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let older: Awaited<ReturnType<typeof makeDirectory>>;
let newer: Awaited<ReturnType<typeof makeDirectory>>;

const refresh = (...args: string[]) => refreshHere(args, { DATABASE_URL: database.url });
const publish = (directory: string, ...args: string[]) =>
  refresh("--from", directory, "--accept-shrink", ...args);
const select = async (sql: string) => (await database.client.query(sql)).rows;
const seePublic = async (table: string) =>
  (await select(`select report_id from disclosed.${table} order by 1`)).map(({ report_id }) => report_id);
const hidden: Row = { is_public: "f" };

// The older files have four public reports. By the newer ones, 2 is suppressed, and so is 4, which follows 3.
beforeAll(async () => {
  older = await makeDirectory();
  newer = await makeDirectory();
  for (const [directory, more] of [
    [older.directory, {}],
    [newer.directory, hidden],
  ] as const) {
    await writeCsv(directory, "general", [
      submission(1),
      submission(2, more),
      submission(3, { resubmission_status: "deprecated_via_resubmission" }),
      submission(4, more),
    ]);
    await writeCsv(
      directory,
      "federal_awards",
      [1, 2, 4].map((number) => ({ report_id: id(number), award_reference: "AWARD-0001" })),
    );
    await writeCsv(directory, "resubmission", [
      { report_id: id(3), version: "1", status: "deprecated_via_resubmission", next_report_id: id(4) },
      { report_id: id(4), version: "2", status: "most_recent", previous_report_id: id(3) },
    ]);
  }
});
afterAll(async () => {
  await older.remove();
  await newer.remove();
});
const publishBoth = async () => {
  await database.client.query("truncate publication.suppressed_reports");
  expect(await publish(older.directory, "--force")).toMatchObject({ code: 0 });
  expect(await seePublic("general")).toEqual([1, 2, 4].map(id));
  expect(await publish(newer.directory, "--force")).toMatchObject({ code: 0 });
  expect(await seePublic("general")).toEqual([1, 3].map(id));
};

describe("a report that was suppressed", () => {
  beforeEach(publishBoth);

  it("stays suppressed by older files, in all tables; the rest is published, and the report is named", async () => {
    const { code, output } = await publish(older.directory, "--force");
    expect(output).toContain(
      `2 reports stay suppressed, as in an earlier data set: ${id(2)}, ${id(4)}. ` +
        "These files call the reports public. To make one public, run npm run refresh -- --release REPORT_ID and refresh again.",
    );
    expect(code).toBe(0);
    expect(await seePublic("general")).toEqual([1, 3].map(id));
    expect(await seePublic("federal_awards")).toEqual([id(1)]);
    expect(await seePublic("general_stubs")).toEqual([2, 4].map(id));
    expect(
      await select(
        `select report_id from suppressed.federal_awards
         union all select report_id from suppressed.general where not is_public order by 1`,
      ),
    ).toEqual([2, 2, 4, 4].map((number) => ({ report_id: id(number) })));
    // The public report of its chain tells nothing of it.
    expect(await select("select report_id from disclosed.resubmission")).toEqual([]);
    const [{ kept_suppressed }] = await select(
      "select kept_suppressed from publication.data_sets where state = 'live'",
    );
    expect(kept_suppressed).toEqual([2, 4].map(id));
  });

  it("is named by a dry run as well, which remembers nothing", async () => {
    await database.client.query("truncate publication.suppressed_reports");
    expect((await publish(newer.directory, "--dry-run")).output).not.toContain("suppressed, as in");
    expect(await select("select * from publication.suppressed_reports")).toEqual([]);
    await publish(newer.directory, "--force");
    expect((await publish(older.directory, "--dry-run")).output).toContain("2 reports stay suppressed");
  });

  it("does not come back by a rollback, which says why and what to do", async () => {
    const [live] = await select("select id from dissemination.data_set");
    const { code, output } = await refresh("--rollback");
    expect(output).toBe(
      `The previous data set shows reports to the public that were suppressed since: ${id(2)}, ${id(4)}. Nothing has changed.
To publish its files with these reports suppressed, run npm run refresh -- --from ${older.directory} --force --accept-shrink --accept-growth.
To let a report be public again, run npm run refresh -- --release REPORT_ID, then roll back.
`,
    );
    expect(code).toBe(1);
    expect(await select("select id from dissemination.data_set")).toEqual([live]);
  });

  it("does not come back by a build that forgets to ask, nor by functions of the report service", async () => {
    const definitions = path.join(older.directory, "data_set");
    await cp(definitionsDirectory, definitions, { recursive: true });
    const check = path.join(definitions, "check.sql");
    const text = await readFile(check, "utf8");
    const keeps = "update staging.reports set is_public = false";
    expect(text).toContain(keeps);
    await writeFile(check, text.replace(keeps, "update staging.reports set is_public = true"));
    const load = async (directory: string, more?: string) => {
      await database.client.query("set role publisher");
      try {
        const files = await findFiles(directory);
        await loadDataSet(database.client, { source: "test", files }, more ? { definitions: more } : {});
      } finally {
        await database.client.query("reset role");
      }
    };
    await expect(load(older.directory, definitions)).rejects.toThrow(
      /Suppressed submissions would be shown:\n {2}disclosed_next\.\w+ has rows of suppressed submissions/,
    );
    const source = "select pg_get_functiondef('publication.is_public_report(text)'::regprocedure) as sql";
    const [{ sql }] = await select(source);
    await database.client.query(sql.replace("return (", "return true or ("));
    await expect(load(newer.directory)).rejects.toThrow(
      "publication.is_public_report() says yes to suppressed",
    );
    await database.client.query(sql);
    await load(newer.directory);
  });

  it("is remembered from its first suppression on", async () => {
    const read = () => select("select * from publication.suppressed_reports order by report_id");
    const first = await read();
    expect(first.map(({ report_id }) => report_id)).toEqual([2, 4].map(id));
    await publish(newer.directory, "--force");
    expect(await read()).toEqual(first);
  });
});

describe("npm run refresh -- --release", () => {
  beforeEach(publishBoth);

  it("makes a report public at the next refresh of the same files, and records who did it", async () => {
    await publish(older.directory, "--force");
    expect((await publish(older.directory)).output).toContain("nothing to do");
    expect(await refresh("--release", id(2))).toEqual({
      code: 0,
      output: `Released ${id(2)}. The next refresh makes it public if its files call it public.\n`,
    });
    expect(await seePublic("general")).toEqual([1, 3].map(id));
    expect((await publish(older.directory)).output).toContain(`1 report stays suppressed, as in`);
    expect(await seePublic("general")).toEqual([1, 2, 3].map(id));
    const [event] = await select(
      "select database_role, subject, subject_id, action, before from access.events order by id desc limit 1",
    );
    const [{ role }] = await select("select session_user as role");
    expect(event).toMatchObject({
      database_role: role,
      subject: "suppressed_reports",
      subject_id: id(2),
      action: "delete",
      before: { report_id: id(2), suppressed_since: expect.any(String) },
    });
  });

  it("lets a rollback make the report public", async () => {
    for (const number of [2, 4]) await refresh("--release", id(number));
    expect(await refresh("--rollback")).toMatchObject({ code: 0 });
    expect(await seePublic("general")).toEqual([1, 2, 4].map(id));
  });

  it("does not last against files that suppress the report", async () => {
    await refresh("--release", id(2));
    await publish(newer.directory, "--force");
    await publish(older.directory, "--force");
    expect(await seePublic("general")).toEqual([1, 3].map(id));
  });

  it("says so where a report is not remembered", async () => {
    expect(await refresh("--release", id(1))).toEqual({
      code: 1,
      output: `The report ${id(1)} is not in publication.suppressed_reports. Check the ID: it may have been released already.\n`,
    });
  });
});

it("the publisher adds to what is remembered, and can neither change nor remove it, nor write events", async () => {
  await database.client.query("begin; set local role publisher");
  try {
    for (const statement of [
      "delete from publication.suppressed_reports",
      "truncate publication.suppressed_reports",
      "update publication.suppressed_reports set suppressed_since = now()",
      "insert into publication.suppressed_reports values ('x', now())",
      "insert into access.events (database_role, subject, subject_id, action) values ('x', 'x', 'x', 'delete')",
    ]) {
      await database.client.query("savepoint before");
      await expect(database.client.query(statement)).rejects.toThrow(/permission denied/);
      await database.client.query("rollback to before");
    }
    await database.client.query("insert into publication.suppressed_reports (report_id) values ('x')");
  } finally {
    await database.client.query("rollback");
  }
});
