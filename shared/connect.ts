import { Client } from "pg";

/**
 * Connects to a database. If the connection breaks later, only the next query fails.
 *
 * @param applicationName the client's name in PostgreSQL's log and `pg_stat_activity`
 */
export async function connect(databaseUrl: string, applicationName: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl, application_name: applicationName });
  client.on("error", () => {});
  await client.connect();
  return client;
}
