import type { Client } from "pg";
import { DeploymentRefused } from "./refuse-early-removal.ts";

/**
 * Refuses files of `db/api` that were deployed before those that are there now: an older checkout, most likely.
 * What `db:watch` has tried does not count.
 *
 * @throws DeploymentRefused
 */
export async function refuseOlderApi(
  client: Client,
  sha256: string,
  { rollsBackApi = false }: { rollsBackApi?: boolean },
): Promise<void> {
  const { rows: tables } = await client.query("select to_regclass('deployment.api_schemas') as found");
  if (rollsBackApi || tables[0].found === null) return;
  const { rows } = await client.query<{ then: string; now: string }>(
    `select to_char(max(earlier.deployed_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as then,
       to_char(latest.deployed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as now
     from (
       select * from deployment.api_schemas where contracts is not null order by id desc limit 1
     ) as latest
     join deployment.api_schemas as earlier on earlier.sha256 = $1 and earlier.contracts is not null
     where latest.sha256 <> $1
     group by latest.deployed_at`,
    [sha256],
  );
  const [found] = rows;
  if (found === undefined) return;
  throw new DeploymentRefused(
    [
      `These files of db/api were deployed at ${found.then} UTC, and others after them, at ${found.now} UTC.`,
      "Is this checkout older than the database? To put the API back on purpose, as far as the contracts allow:",
      "  npm run db:deploy -- --roll-back-api",
    ].join("\n"),
  );
}
