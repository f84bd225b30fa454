import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { definitionsDirectory } from "../../../scripts/refresh/read-definition.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

// Faults in the SQL of db/data_set are reported as exactly as faults in the files, and suppressed rows stay suppressed.

const database = useDeployedDatabase();
let source: Awaited<ReturnType<typeof makeDirectory>>;

beforeAll(async () => {
  source = await makeDirectory();
  await writeCsv(source.directory, "general", [submission(1), submission(2, { is_public: "f" })]);
  await writeCsv(source.directory, "findings", [{ report_id: id(2) }]);
});
afterAll(() => source.remove());

const asPublisher = async <Result>(work: () => Promise<Result>) => {
  await database.client.query("set role publisher");
  return await work().finally(() => database.client.query("reset role"));
};
const load = (definitions?: string) =>
  asPublisher(async () =>
    loadDataSet(
      database.client,
      { source: "test", files: await findFiles(source.directory) },
      definitions === undefined ? {} : { definitions },
    ),
  );
const readLive = async () =>
  (await database.client.query("select id, to_regnamespace('staging') as left from dissemination.data_set"))
    .rows;

/** Loads with a changed file of db/data_set, which must fail and leave the live data set. */
async function failWith(
  name: string,
  edit: (sql: string) => string,
): Promise<{ message: string; lines: number }> {
  const copy = await makeDirectory();
  try {
    await cp(definitionsDirectory, copy.directory, { recursive: true });
    const file = path.join(copy.directory, name);
    const old = await readFile(file, "utf8");
    expect(edit(old)).not.toBe(old);
    await writeFile(file, edit(old));
    const live = await readLive();
    const message = await load(copy.directory).then(
      () => "It was published.",
      (error: Error) => error.message,
    );
    expect(await readLive()).toEqual(live);
    return { message, lines: old.split("\n").length };
  } finally {
    await copy.remove();
  }
}

it.each(["session", "staging", "check", "build", "publish", "views"])(
  "an error in %s.sql has its file, line and caret",
  async (name) => {
    const { message, lines } = await failWith(`${name}.sql`, (sql) => `${sql}select 1, nosuch;\n`);
    expect(message).toContain(
      `db/data_set/${name}.sql:${lines}:11: column "nosuch" does not exist\n${String(lines).padStart(5)} | select 1, nosuch;\n      | ${" ".repeat(10)}^`,
    );
  },
);

it.each([
  ["do $$\nbegin\n  execute format('select %s', 'nosuch');\nend\n$$;", 'column "nosuch" does not exist'],
  ["commit;", "EXECUTE of transaction commands"],
  ["create view api_v1_1_0.extra as select 1;", "permission denied for schema api_v1_1_0"],
])("build.sql cannot: %s", async (added, expected) => {
  const { message, lines } = await failWith("build.sql", (sql) => `${sql}${added}\n`);
  expect(message).toContain(`db/data_set/build.sql:${lines}:1: ${expected}`);
});

it("views that would show suppressed rows are not published", async () => {
  const { message } = await failWith("views.sql", (sql) =>
    sql.replace("with (security_invoker = true) ", ""),
  );
  expect(message).toContain(
    "api_public and api_owner may read dissemination.findings, which does not read with its caller's rights (security_invoker).",
  );
});

it("nor are tables that would show them rolled back to; a refresh repairs the live ones", async () => {
  const seeFindings = async () => {
    await database.client.query("begin; set local role api_public");
    const { rows } = await database.client.query("select report_id from api_v1_1_0.findings");
    await database.client.query("rollback");
    return rows;
  };
  await load();
  await load();
  const live = await readLive();
  await database.client.query("alter table suppressed_previous.findings disable row level security");
  await expect(asPublisher(() => rollBack(database.client))).rejects.toThrow(
    "suppressed.findings has no row-level security",
  );
  expect(await readLive()).toEqual(live);
  await database.client.query("alter table suppressed.findings disable row level security");
  expect(await seeFindings()).toEqual([{ report_id: id(2) }]);
  await load();
  expect(await seeFindings()).toEqual([]);
});
