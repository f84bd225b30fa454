import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { withDefinitions } from "./support/refresh.ts";
import { makeDirectory, submission, writeCsv } from "./support/source-files.ts";

// On a server of its own, since one of these stops the server.
let server: ScratchServer;
let url: string;
let source: Awaited<ReturnType<typeof makeDirectory>>;
beforeAll(async () => {
  server = await startScratchServer();
  url = await server.create();
  await deployDatabase(url);
  source = await makeDirectory();
  await writeCsv(source.directory, "general", [submission(1)]);
});
afterAll(async () => {
  await server?.close();
  await source?.remove();
});

/** Loads the files, and says as a refresh does why that failed. */
async function fail(interfere: (client: Client, line: string) => void): Promise<string> {
  const client = await connect(url, "test");
  client.on("error", () => {});
  // A server that is killed within moments of the rollback of an unlogged table starts at the second attempt only.
  await client.query("checkpoint");
  await client.query("set role publisher");
  const files = await findFiles(source.directory);
  const report = (line: string) => interfere(client, line);
  return await loadDataSet(client, { source: "test", files }, { report })
    .then(() => "no error", explainFailure)
    .finally(() => client.end().catch(() => {}));
}

it("a refresh says that PostgreSQL's disk is full, and how much room it needs", async () => {
  const text = 'could not extend file "base/1": No space left on device';
  const raise = `do $$ begin raise sqlstate '53100' using message = '${text}'; end $$;`;
  const edits = { "build.sql": (sql: string) => `${sql}\n${raise}\n` };
  const message = await withDefinitions(edits, () => fail(() => {}));
  expect(message).toContain(`PostgreSQL's disk is full: ${text}. Nothing has changed.`);
  expect(message).toContain("room for two data sets");
});

it.each(["general.csv: ", "Building", "Publishing"])(
  "a refresh says that PostgreSQL was stopped, after “%s”",
  async (moment) => {
    let isStopped = false;
    const witness = await connect(url, "test");
    witness.on("error", () => {});
    const ended = new Promise((resolve) => witness.once("end", resolve));
    const message = await fail((client, line) => {
      if (isStopped || !line.startsWith(moment)) return;
      isStopped = true;
      // As when the kernel kills it: the server ends all other connections and starts anew.
      process.kill((client as unknown as { processID: number }).processID, "SIGKILL");
    });
    expect(message).toMatch(/^PostgreSQL was stopped, or the connection to it broke: .*--status/);
    // The server takes connections until it notices.
    await ended;
    const connectAgain = () => connect(url, "test").then((client) => client.end());
    await expect
      .poll(() =>
        connectAgain().then(
          () => "up",
          () => "down",
        ),
      )
      .toBe("up");
  },
);
