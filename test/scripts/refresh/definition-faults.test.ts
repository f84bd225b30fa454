import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Program, runHere } from "../../support/run-here.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { makeDirectory, submission, writeCsv } from "./support/source-files.ts";

// What is wrong with the SQL of db/data_set is said as exactly as what is wrong with the files. In a copy of the project.

const project = path.resolve(import.meta.dirname, "../../..");
const database = useDeployedDatabase();
let copy: string;
let directory: string;
let removeDirectory: () => Promise<void>;

beforeAll(async () => {
  copy = await mkdtemp(path.join(tmpdir(), "single-audit-project-"));
  for (const part of ["db", "scripts", "service", "package.json", "tsconfig.json"])
    await cp(path.join(project, part), path.join(copy, part), { recursive: true });
  await symlink(path.join(project, "node_modules"), path.join(copy, "node_modules"));
  ({ directory, remove: removeDirectory } = await makeDirectory());
  await writeCsv(directory, "general", [submission(1), submission(2, { is_public: "f" })]);
});
afterAll(async () => {
  await rm(copy, { recursive: true });
  await removeDirectory();
});

async function refreshWith(
  name: string,
  added: string,
): Promise<{ code: number | null; output: string; line: number }> {
  const file = path.join(copy, "db/data_set", name);
  const old = await readFile(file, "utf8");
  await writeFile(file, `${old}\n${added}\n`);
  try {
    const { runRefreshProgram }: { runRefreshProgram: Program } = await import(
      path.join(copy, "scripts/refresh/refresh-program.ts")
    );
    const env = { DATABASE_URL: database.url };
    const { code, stdout, stderr } = await runHere(runRefreshProgram, ["--from", directory], { env });
    return { code, output: stdout + stderr, line: old.split("\n").length + 1 };
  } finally {
    await writeFile(file, old);
  }
}
const readLive = async () =>
  (await database.client.query("select id, to_regnamespace('staging') as left from dissemination.data_set"))
    .rows;

it.each(["session", "staging", "check", "build", "publish", "views"])(
  "an error in %s.sql has its file, line and caret, and nothing is published",
  async (name) => {
    const live = await readLive();
    const { code, output, line } = await refreshWith(`${name}.sql`, "select 1, nosuch;");
    expect(code).toBe(1);
    expect(output).toContain(
      `db/data_set/${name}.sql:${line}:11: column "nosuch" does not exist\n${String(line).padStart(5)} | select 1, nosuch;\n      | ${" ".repeat(10)}^`,
    );
    expect(await readLive()).toEqual(live);
  },
);

it.each([
  [
    "do $$\nbegin\n  execute format('select %s', 'nosuch');\nend\n$$;",
    2,
    3,
    'column "nosuch" does not exist',
  ],
  ["commit;", 0, 1, "EXECUTE of transaction commands"],
  ["create view api_v1_1_0.extra as select 1;", 0, 1, "permission denied for schema api_v1_1_0"],
])("build.sql cannot: %s", async (added, lines, column, message) => {
  const live = await readLive();
  const { code, output, line } = await refreshWith("build.sql", added);
  expect(code).toBe(1);
  expect(output).toContain(`db/data_set/build.sql:${line + lines}:${column}: ${message}`);
  expect(await readLive()).toEqual(live);
});
