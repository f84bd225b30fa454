import type { Pool } from "pg";
import { askDatabase, DatabaseUnavailable } from "./database.ts";
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

/** The database went away while it spent a token: it may be spent, or not. */
export class RedemptionUncertain extends DatabaseUnavailable {
  override name = "RedemptionUncertain";
}

/**
 * Spends a token for a signed address of its report's PDF. The address is made first, with no database connection held:
 * storage that hangs keeps no other token waiting. Then one statement spends the token, for one caller at most. So it is
 * not spent if storage fails or has no such file, nor if the client has gone meanwhile; and it is spent without an
 * address for the client if this process or the client ends between that statement and the answer.
 *
 * @throws StorageUnavailable, DatabaseUnavailable: the token is not spent; RedemptionUncertain
 */
export async function redeemToken(
  { pool, storage }: { pool: Pool; storage: Storage },
  token: string,
  isClientWaiting: () => boolean,
): Promise<Outcome> {
  const [reportId, requestedIn] = await askDatabase(
    pool,
    "select access.find_report_of_token($1), access.find_request_of_token($1)",
    [token],
  );
  if (typeof reportId !== "string") return { result: "refused" };
  const address = await storage.signDownload(reportId, { expiresInSeconds });
  if (address === null) return { result: "file_missing" };
  if (!isClientWaiting()) return { result: "client_gone" };
  const [redeemed] = await askDatabase(pool, "select access.redeem_access_token($1)", [token]).catch(
    (cause: DatabaseUnavailable) => {
      throw new RedemptionUncertain(cause.message, { cause: cause.cause });
    },
  );
  if (redeemed !== reportId) return { result: "refused" };
  return { result: "redeemed", address, requestedIn: typeof requestedIn === "string" ? requestedIn : null };
}
