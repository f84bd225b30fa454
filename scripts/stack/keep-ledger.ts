import { mkdir } from "node:fs/promises";
import { describeError } from "../../shared/describe-error.ts";
import { withPublisher } from "../refresh/connect-publisher.ts";
import { beginLedger, compareWithLedger, continueLedger, LedgerRefused } from "../refresh/ledger.ts";
import type { PartContext } from "./parts.ts";

const pollMilliseconds = 2_000;

/**
 * Compares the database with its ledger, now and until the stack stops. If it has none, begins one in the directory, or continues the
 * one that is there: `.stack/postgres` may be older than `.stack/ledger`.
 */
export async function keepLedger(
  { log, onStop }: PartContext,
  databaseUrl: string,
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const database = { connectionString: databaseUrl };
  await withPublisher(database, async (client) => {
    try {
      await compareWithLedger(client);
    } catch (error) {
      if (!(error instanceof LedgerRefused)) throw error;
      const { rows } = await client.query("select place from ledger.claim");
      if (rows[0]?.place !== null) await continueLedger(client, undefined);
      else await beginLedger(client, directory).catch(() => continueLedger(client, directory));
    }
  });
  let problem: string | undefined;
  const compare = async () => {
    const now = await withPublisher(database, compareWithLedger).then(() => undefined, describeError);
    if (now !== undefined && now !== problem) log("ledger", now);
    problem = now;
  };
  const timer = setInterval(compare, pollMilliseconds);
  onStop(async () => clearInterval(timer));
}
