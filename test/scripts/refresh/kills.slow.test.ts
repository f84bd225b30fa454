import { readdir } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { writeSample } from "../../../scripts/sample/write-sample.ts";
import { runScript } from "../../support/run-stack.ts";
import { useRefresh } from "./support/refresh.ts";
import { submission } from "./support/source-files.ts";

const here = useRefresh();
let sample: string;

beforeAll(async () => {
  await here.write("general", [submission(1), submission(2, { is_public: "f" })]);
  sample = path.join(here.directory, "sample");
  await writeSample({ directory: sample, submissions: 400 });
});

const moments = [
  "general.csv: ",
  "notes_to_sefa.csv: ",
  "Checking",
  "Building",
  "Vacuuming",
  "Writing the bulk files",
];
it.each(moments)(
  "a refresh that is killed after “%s” leaves the live data set as it was, and the next run cleans up",
  async (moment) => {
    const before = await here.liveId();
    const args = ["--from", sample, "--force", "--accept-shrink", "--accept-growth"];
    const env = { DATABASE_URL: here.database.url, PUBLIC_DATA: here.publicData };
    const { child, exited } = runScript("refresh.ts", args, env);
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(moment)) child.kill("SIGKILL");
    });
    await exited;
    expect(output).toContain(moment);
    expect(output).not.toContain("Publishing");
    expect(await here.liveId()).toBe(before);
    // The killed run keeps its locks until the server notices that the client is gone.
    const again = () => here.publish("--force", "--accept-shrink");
    await expect.poll(async () => (await again()).code).toBe(0);
    const left = "select nspname from pg_namespace where nspname ~ '_next$|_dropped$|^staging$'";
    expect(await here.list(left)).toEqual([]);
    expect((await readdir(here.publicData)).filter((name) => name.startsWith(".part"))).toEqual([]);
    expect(await here.list("select count(*)::integer from disclosed.general")).toEqual([1]);
  },
);
