import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runScript } from "../../support/run-stack.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  findKeyId,
  publishSample,
  viewColumns,
  viewFile,
} from "./support.ts";

const database = useDeployedDatabase();
let service: ScratchService;
let copy: Copy;
let directory: string;
let key: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-watch-"));
  await publishSample(database.client);
  service = await startScratchService(database.url);
  key = await findKeyId(database.url);
  copy = await copyRepository();
  const facts = {
    database_url: database.url,
    base_url: "http://127.0.0.1:8000",
    keys: { individual: "the-key" },
  };
  await writeFile(path.join(directory, "stack.json"), JSON.stringify(facts));
});
afterAll(async () => {
  await service.stop();
  await copy.dispose();
  await rm(directory, { recursive: true });
});

const statusOf = async (column: string) =>
  (await service.request(`/additional_eins?select=${column}&limit=1`, key)).status;

it("db:watch serves a saved view within moments, says what changed, and goes on after an error", async () => {
  const { child, output, exited } = runScript("db-watch.ts", ["--directory", copy.directory], {
    STACK_DIRECTORY: directory,
  });
  await expect.poll(output, { timeout: 30_000 }).toContain("Watching");
  const file = path.join(copy.directory, viewFile);
  const old = await readFile(file, "utf8");
  await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
  await expect.poll(() => statusOf("other_id")).toBe(200);
  await expect.poll(output).toContain("+ column other_id: text");
  await expect
    .poll(output)
    .toContain(
      `curl -H "x-api-key: $API_KEY" -H 'accept-profile: api_v1_1_0' 'http://127.0.0.1:8000/additional_eins?limit=1'`,
    );
  expect(output()).toContain(`").keys.individual')\n`);
  await copy.write(viewFile, describeView([...viewColumns, "no_such_column"]));
  await expect.poll(output).toContain("not applied");
  expect(output()).toContain(
    'db/api/api_v1_1_0/additional_eins.sql:9:3: column "no_such_column" does not exist',
  );
  expect(await statusOf("other_id")).toBe(200);
  await copy.write(viewFile, old);
  await expect.poll(() => statusOf("other_id")).toBe(400);
  // A view of no contract comes and goes; of what is gone there is nothing to see.
  const extra = "api/api_v1_1_0/extra.sql";
  await copy.write("data_set/views.sql", "-- changed\n");
  await expect
    .poll(output)
    .toContain(`data_set/views.sql: in effect with the next data set\n  npm run refresh -- --from DIRECTORY`);
  await copy.write(
    extra,
    describeView(viewColumns, { isAlone: true }).replaceAll("api_v1_1_0.additional_eins", "api_v1_1_0.extra"),
  );
  await expect.poll(output).toContain("/extra?limit=1'");
  const requests = output().split("/extra?").length;
  await copy.remove(extra);
  await expect.poll(output).toContain("- view api_v1_1_0.extra");
  expect(output().split("/extra?").length).toBe(requests);
  expect(output()).not.toContain("the-key");
  child.kill("SIGINT");
  expect(await exited).toBe(0);
});
