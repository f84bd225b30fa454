import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeSample } from "../../../scripts/sample/write-sample.ts";
import { runScript } from "../../support/run-stack.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { refreshHere } from "./support/refresh.ts";
import { makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;

beforeAll(async () => {
  ({ directory, remove: removeDirectory } = await makeDirectory());
  await writeCsv(directory, "general", [submission(1), submission(2, { is_public: "f" })]);
});
afterAll(() => removeDirectory());

const environment = () => ({ DATABASE_URL: database.url, PUBLIC_DATA: path.join(directory, "public") });
const start = (args: string[]) => runScript("refresh.ts", args, environment());
const refresh = (...args: string[]) => refreshHere(args, environment());
const select = async (sql: string) => (await database.client.query(sql)).rows;
const liveId = async () => (await select("select id from dissemination.data_set"))[0].id;

describe("a refresh that is killed", () => {
  it.each([
    "general.csv: ",
    "notes_to_sefa.csv: ",
    "Checking",
    "Building",
    "Freezing",
    "Writing the bulk files",
  ])("after “%s” leaves the live data set as it was, and the next run cleans up", async (moment) => {
    const sample = path.join(directory, "sample");
    if (!(await readdir(directory)).includes("sample"))
      await writeSample({ directory: sample, submissions: 400 });
    const before = await liveId();
    const { child, exited } = start(["--from", sample, "--force", "--accept-shrink", "--accept-growth"]);
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(moment)) child.kill("SIGKILL");
    });
    await exited;
    expect(output).toContain(moment);
    expect(output).not.toContain("Publishing");
    expect(await liveId()).toBe(before);
    // The server ends the session that has lost its client.
    await expect
      .poll(async () => (await refresh("--from", directory, "--force", "--accept-shrink")).code, {
        timeout: 20_000,
      })
      .toBe(0);
    const left = "select nspname from pg_namespace where nspname ~ '_next$|_dropped$|^staging$'";
    expect(await select(left)).toEqual([]);
    const files = await readdir(path.join(directory, "public"));
    expect(files.filter((name) => name.startsWith(".part"))).toEqual([]);
    expect(await select("select count(*)::integer from disclosed.general")).toEqual([{ count: 2 }]);
  });
});
