import type { TestProject } from "vitest/node";
import { startScratchServer } from "../../scripts/servers/scratch-database.ts";
import { ofWorker } from "./target.ts";

/** Starts a PostgreSQL server for each worker: roles belong to a server, so two deployments on one would meet. */
export default async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  const servers = await Promise.all(Array.from({ length: config.maxWorkers }, () => startScratchServer()));
  for (const [index, server] of servers.entries())
    process.env[ofWorker("SCRATCH_URL", index + 1)] = await server.create();
  return async () => {
    for (const server of servers) await server.close();
  };
}
