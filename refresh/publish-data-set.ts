import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";
import type { RowCounts } from "./load-data-set.ts";

const definitions = path.resolve(import.meta.dirname, "../db/data_set");
const lockNotAvailable = "55P03";
const attempts = 50;

/**
 * Makes the next generation the live one, in one transaction. It waits for readers in short turns, so that
 * no new reader waits behind it for long.
 */
export async function publishDataSet(client: Client, source: string, rowCounts: RowCounts): Promise<void> {
  const views = await readFile(path.join(definitions, "views.sql"), "utf8");
  const publish = await readFile(path.join(definitions, "publish.sql"), "utf8");
  for (let attempt = 1; ; attempt += 1) {
    await client.query("begin");
    try {
      await client.query("set local lock_timeout = '100ms'; set local client_min_messages = warning");
      await client.query(views);
      await client.query(publish);
      await client.query(
        "insert into publication.data_sets (id, source, row_counts) select id, $1, $2 from disclosed.data_set",
        [source, JSON.stringify(rowCounts)],
      );
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback");
      if (!(error instanceof DatabaseError && error.code === lockNotAvailable) || attempt === attempts)
        throw error;
      await sleep(100 + Math.random() * 400);
    }
  }
}
