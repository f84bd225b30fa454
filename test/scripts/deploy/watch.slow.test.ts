import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runScript } from "../../support/run-stack.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { startScratchService } from "../../support/scratch-service.ts";
import { publishSample, useCopy, viewFile } from "./support.ts";

const database = useDeployedDatabase();
const copy = useCopy();

it("db:watch serves a saved view within seconds, prints what changed, and keeps running after an error", async () => {
  await publishSample(database.client);
  const service = await startScratchService(database.url);
  onTestFinished(service.stop);
  const statusOf = async (column: string) =>
    (await service.request(`/additional_eins?select=${column}&limit=1`)).status;
  const keys = { individual: "mine" };
  const facts = { database_url: database.url, base_url: "http://127.0.0.1:8000", keys };
  await writeFile(path.join(copy.directory, "stack.json"), JSON.stringify(facts));
  const { child, output, exited } = runScript("db-watch.ts", ["--directory", copy.directory], {
    STACK_DIRECTORY: copy.directory,
  });
  const says = (text: string | RegExp) => expect.poll(output).toMatch(text);
  await says("Watching");
  const old = await copy.read(viewFile);
  await copy.addColumn();
  await expect.poll(() => statusOf("other_id")).toBe(200);
  await says("+ column other_id: text");
  await says(
    `curl -H "x-api-key: $API_KEY" -H 'accept-profile: api_v1_1_0' 'http://127.0.0.1:8000/additional_eins?limit=1'`,
  );
  expect(output()).toContain(`").keys.individual')\n`);
  await copy.edit(viewFile, (text) => text.replace("  report_id as other_id", "  no_such_column"));
  await says(/not applied[\s\S]*additional_eins\.sql:12:3: column "no_such_column" does not exist/);
  expect(await statusOf("other_id")).toBe(200);
  await copy.write(viewFile, old);
  await expect.poll(() => statusOf("other_id")).toBe(400);
  await copy.write("data_set/indexes.sql", "-- changed\n");
  await says("data_set/indexes.sql: built by a deployment\n  npm run db:deploy");
  await copy.write("data_set/totals.sql", "-- changed\n");
  await says("data_set/totals.sql: in effect with the next data set\n  npm run refresh -- --from DIRECTORY");
  expect(output()).not.toContain("mine");
  child.kill("SIGINT");
  expect(await exited).toBe(0);
});
