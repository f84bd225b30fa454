import { Client } from "pg";

/**
 * Connects to a database. A connection that breaks later makes the next query fail, and does nothing else.
 *
 * @param applicationName what PostgreSQL's log and `pg_stat_activity` call this client
 */
export async function connect(databaseUrl: string, applicationName: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl, application_name: applicationName });
  client.on("error", () => {});
  await client.connect();
  return client;
}
