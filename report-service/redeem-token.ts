import type { Pool } from "pg";
import { inTransaction } from "./database.ts";
import { longestLifeSeconds, type Storage } from "./storage.ts";

/** Ten seconds less than the contract allows, for clocks that differ. */
const expiresInSeconds = longestLifeSeconds - 10;

/**
 * Spends a token for a signed address of its report's PDF. A token is spent exactly when an address is
 * returned: not if storage fails or has no such file, and not if the client has gone meanwhile.
 *
 * @returns null if there is nothing to download
 * @throws StorageUnavailable, DatabaseUnavailable
 */
export async function redeemToken(
  { pool, storage }: { pool: Pool; storage: Storage },
  token: string,
  isClientWaiting: () => boolean,
): Promise<string | null> {
  return inTransaction(pool, async (query) => {
    const [reportId] = await query("select access.redeem_access_token($1)", [token]);
    if (typeof reportId !== "string") return null;
    const address = await storage.signDownload(reportId, { expiresInSeconds });
    return isClientWaiting() ? address : null;
  });
}
