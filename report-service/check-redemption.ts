import type { Pool } from "pg";
import { DatabaseUnavailable, queryDatabase } from "../shared/web/database.ts";

/** @throws DatabaseUnavailable if this service could not redeem a token now */
export async function checkRedemption(pool: Pool): Promise<void> {
  const [mayRedeem] = await queryDatabase(
    pool,
    `select has_function_privilege('access.find_report_of_token(uuid)', 'execute')
       and has_function_privilege('access.redeem_access_token(uuid)', 'execute')`,
    [],
  );
  if (!mayRedeem) {
    throw new DatabaseUnavailable(
      "The database role has no right to redeem tokens. Connect as report_service.",
    );
  }
}
