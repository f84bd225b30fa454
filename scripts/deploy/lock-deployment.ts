import { type Client, DatabaseError } from "pg";
import { describeHolder, tryLock } from "../sql/session-lock.ts";

const lock = "db-deploy";
const lockNotAvailable = "55P03";

/**
 * One deployment at a time, until the connection ends.
 *
 * @param milliseconds how long to wait for another one; without it, as long as that runs
 * @throws Error when the other one ran for all of that time
 */
export async function lockDeployment(
  client: Client,
  report: (line: string) => void,
  milliseconds?: number,
): Promise<void> {
  if (await tryLock(client, lock)) return;
  const holder = await describeHolder(client, lock);
  const bound =
    milliseconds === undefined
      ? "as long as it takes (db:deploy --wait bounds it)"
      : `at most ${milliseconds / 1000} s (--wait)`;
  report(`Another deployment is running: ${holder}`);
  report(`Waiting for it to end, ${bound} ...`);
  try {
    // 0 would be no bound.
    await client.query(`set lock_timeout = ${milliseconds === undefined ? 0 : Math.max(1, milliseconds)}`);
    await client.query("select pg_advisory_lock(hashtext($1))", [lock]);
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === lockNotAvailable)) throw error;
    throw new Error(
      `Nothing was deployed: another deployment did not end in ${(milliseconds ?? 0) / 1000} s (--wait): ${await describeHolder(client, lock)}`,
      { cause: error },
    );
  } finally {
    await client.query("reset lock_timeout");
  }
}
