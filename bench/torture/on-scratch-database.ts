import type { Client } from "pg";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { startScratchServer } from "../../scripts/servers/scratch-database.ts";
import { connect } from "../../service/connect.ts";

/** Works on a new database in the state of `db`, on a PostgreSQL server of its own. */
export async function onScratchDatabase<Result>(
  work: (client: Client, databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  const server = await startScratchServer();
  try {
    const databaseUrl = await server.create();
    await deployDatabase(databaseUrl);
    const client = await connect(databaseUrl, "torture");
    try {
      return await work(client, databaseUrl);
    } finally {
      await client.end();
    }
  } finally {
    await server.close();
  }
}
