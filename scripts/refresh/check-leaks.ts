import { type Client, DatabaseError } from "pg";
import { readDefinition } from "./read-definition.ts";

/** What the leak gate's SQL raises. */
const leaks = "LEAKS";

/** A suppressed submission would be shown to someone without Tribal access. Its message is a line for each way. */
export class LeaksFound extends Error {
  override name = "LeaksFound";
}

/**
 * Asks the database, as each role that a key may become but the Tribal one, whether anything that is served now shows
 * a suppressed submission (db/data_set/leak_gate.sql). Leaves nothing behind. The caller is in a transaction, as the
 * publisher or a role that may become it.
 *
 * @throws LeaksFound
 */
export async function checkLeaks(client: Client): Promise<void> {
  await client.query(await readDefinition("leak_gate.sql")).catch(rethrowLeaks);
}

/**
 * Makes a request with a key of each tier but the Tribal one, and looks whose role it gets
 * (db/data_set/leak_gate_requests.sql). Leaves nothing behind. The caller is in a transaction, as who deploys.
 *
 * @throws LeaksFound
 */
export async function checkRequests(client: Client): Promise<void> {
  await client.query(await readDefinition("leak_gate_requests.sql")).catch(rethrowLeaks);
}

/**
 * Looks for suppressed submissions in the tables that the public may read (db/data_set/leak_gate_rows.sql). The caller
 * is in a transaction, and may read these tables.
 *
 * @param generation of the tables: the one to be published, or the live one
 * @throws LeaksFound
 */
export async function checkRows(client: Client, generation: "_next" | ""): Promise<void> {
  await client.query(`set local leak_gate.generation = '${generation}'`);
  await client.query(await readDefinition("leak_gate_rows.sql")).catch(rethrowLeaks);
}

/** @throws LeaksFound in place of the database's error, or the error itself when it is another */
function rethrowLeaks(error: unknown): never {
  if (!(error instanceof DatabaseError && error.code === leaks)) throw error;
  const lines = (error.detail ?? "").split("\n").map((line) => `  ${line}`);
  throw new LeaksFound([error.message, ...lines].join("\n"), { cause: error });
}
