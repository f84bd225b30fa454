import type { TestProject } from "vitest/node";
import { startScratchServer } from "../../scripts/servers/scratch-database.ts";
import { connect } from "../../service/connect.ts";

/** Starts a PostgreSQL server for each worker: roles belong to a server, so two deployments on one would meet. */
export default async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  const servers = await Promise.all(Array.from({ length: config.maxWorkers }, () => startScratchServer()));
  for (const [index, server] of servers.entries()) {
    const url = await server.create();
    await forgoSafety(url);
    process.env[`SCRATCH_URL_${index + 1}`] = url;
  }
  return async () => {
    for (const server of servers) await server.close();
  };
}

/** What a server writes need not outlive the machine, since the server does not outlive the run. */
async function forgoSafety(url: string): Promise<void> {
  const client = await connect(url, "test");
  for (const setting of ["fsync", "full_page_writes", "synchronous_commit"])
    await client.query(`alter system set ${setting} = off`);
  await client.query("select pg_reload_conf()");
  await client.end();
}
