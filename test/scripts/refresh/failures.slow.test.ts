import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { makeDirectory, submission, writeCsv } from "./support/source-files.ts";

// On a server of its own, since it is stopped.
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

it.each(["general.csv: ", "Building", "Publishing"])(
  "a refresh says that PostgreSQL was stopped, after “%s”",
  async (moment) => {
    const [client, witness] = [await connect(url, "test"), await connect(url, "test")];
    for (const each of [client, witness]) each.on("error", () => {});
    const ended = new Promise((resolve) => witness.once("end", resolve));
    // A server that is killed within moments of the rollback of an unlogged table starts at the second attempt only.
    await client.query("checkpoint");
    await client.query("set role publisher");
    let isStopped = false;
    const report = (line: string) => {
      if (isStopped || !line.startsWith(moment)) return;
      isStopped = true;
      // As when the kernel kills it: the server ends all other connections and starts anew.
      process.kill((client as unknown as { processID: number }).processID, "SIGKILL");
    };
    const files = await findFiles(source.directory);
    const load = loadDataSet(client, { source: "test", files }, { report });
    expect(await load.catch(explainFailure)).toMatch(
      /^PostgreSQL was stopped, or the connection to it broke: .*--status/,
    );
    await client.end().catch(() => {});
    // The server takes connections until it notices.
    await ended;
    await vi.waitFor(() => connect(url, "test").then((again) => again.end()), { timeout: 15_000 });
  },
);
