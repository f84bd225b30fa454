import type { QueryResultRow } from "pg";
import { connect } from "../../service/connect.ts";

/** Runs SQL on a database, over a connection of its own. */
export async function queryOn<Row extends object = QueryResultRow>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = await connect(databaseUrl, "test");
  const { rows } = await client.query<Row>(sql, values).finally(() => client.end());
  return rows;
}
