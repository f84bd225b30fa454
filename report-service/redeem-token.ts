import type { Pool } from "pg";
import { inTransaction } from "./database.ts";
import { longestLifeSeconds, type Storage } from "./storage.ts";

/** Ten seconds less than the contract allows, for clocks that differ. */
const expiresInSeconds = longestLifeSeconds - 10;

/** What came of a token. */
export type Outcome =
  | {
      result: "redeemed";
      address: string;
      /** The X-Request-Id of the request that asked for the token, if the database knows it. */
      requestedIn: string | null;
    }
  | { result: "refused" | "file_missing" | "client_gone" };

/**
 * Spends a token for a signed address of its report's PDF. A token is spent exactly when an address is
 * returned: not if storage fails or has no such file, and not if the client has gone meanwhile.
 *
 * @throws StorageUnavailable, DatabaseUnavailable
 */
export async function redeemToken(
  { pool, storage }: { pool: Pool; storage: Storage },
  token: string,
  isClientWaiting: () => boolean,
): Promise<Outcome> {
  return inTransaction<Outcome>(
    pool,
    async (query) => {
      const [reportId, requestedIn] = await query(
        "select access.redeem_access_token($1), access.find_request_of_token($1)",
        [token],
      );
      if (typeof reportId !== "string") return { result: "refused" };
      const address = await storage.signDownload(reportId, { expiresInSeconds });
      if (address === null) return { result: "file_missing" };
      if (!isClientWaiting()) return { result: "client_gone" };
      return {
        result: "redeemed",
        address,
        requestedIn: typeof requestedIn === "string" ? requestedIn : null,
      };
    },
    ({ result }) => result === "redeemed",
  );
}
