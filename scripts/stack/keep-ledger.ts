import { mkdir, readdir } from "node:fs/promises";
import type { Client } from "pg";
import { describeError } from "../../shared/describe-error.ts";
import { repeat } from "../../shared/repeat.ts";
import { withPublisher } from "../refresh/connect-publisher.ts";
import {
  beginLedger,
  compareWithLedger,
  continueLedger,
  LedgerRefused,
  withdrawnMessage,
} from "../refresh/ledger.ts";
import type { PartContext } from "./parts.ts";

const pollMilliseconds = 2_000;

/**
 * Compares the database with its ledger, now and until the stack stops. The ledger of the stack's own database is in this directory. It
 * is started there, or continued if the database is older than the ledger or was moved. A database of DATABASE_URL may have its ledger
 * elsewhere.
 */
export async function keepLedger(
  { config, log, report, onStop }: PartContext,
  databaseUrl: string,
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const database = { connectionString: databaseUrl };
  const follow = async (client: Client) => {
    const { withdrawn } = await continueLedger(client, directory);
    if (withdrawn) report(withdrawnMessage);
  };
  const objects = (await readdir(directory)).filter((name) => !name.startsWith("."));
  await withPublisher(database, async (client) => {
    const place = await readPlace(client);
    if (place === directory || (place !== null && config.DATABASE_URL !== undefined)) {
      await compareWithLedger(client).catch(async (error: unknown) => {
        if (!(error instanceof LedgerRefused) || place !== directory) throw error;
        await follow(client);
      });
    } else if (objects.length > 0) await follow(client);
    else await beginLedger(client, directory);
  });
  let problem: string | undefined;
  const compare = async () => {
    const now = await withPublisher(database, compareWithLedger).then(() => undefined, describeError);
    if (now !== undefined && now !== problem) log("ledger", now);
    problem = now;
  };
  const timer = repeat(compare, pollMilliseconds);
  onStop(async () => clearInterval(timer));
}

async function readPlace(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ place: string | null }>("select place from ledger.claim");
  return rows[0]?.place ?? null;
}
