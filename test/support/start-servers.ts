import type { TestProject } from "vitest/node";
import { startScratchServer } from "../../scripts/servers/scratch-database.ts";
import { countWorkers, ofWorker } from "./workers.ts";

/** Starts a PostgreSQL server for each worker, because all deployments on one server share its roles. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = await Promise.all(
    Array.from({ length: countWorkers(project) }, () => startScratchServer()),
  );
  for (const [index, server] of servers.entries())
    process.env[ofWorker("SCRATCH_URL", index + 1)] = await server.create();
  return async () => {
    await Promise.all(servers.map((server) => server.close()));
  };
}
