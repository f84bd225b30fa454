import type { QueryResultRow } from "pg";
import { connect } from "../../shared/connect.ts";

/** Opens a connection to a database, runs SQL on it, and closes it. Returns the rows. */
export async function queryOn<Row extends object = QueryResultRow>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = await connect(databaseUrl, "test");
  const { rows } = await client.query<Row>(sql, values).finally(() => client.end());
  return rows;
}
