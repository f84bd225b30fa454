import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { signGatewayToken } from "../../scripts/stack/sign-gateway-token.ts";
import { connect } from "../../service/connect.ts";

/** A deployment. */
export interface Addresses {
  baseUrl: string;
  appUrl: string;
  /** With the rights of its superuser. */
  databaseUrl: string;
  /** The directory of a stack on this machine. Without it, no log is read. */
  directory?: string;
}

export type NextKey = (tier: "individual" | "tribal") => string;

/** A deployment with keys for this run. */
export interface Target extends Addresses {
  nextKey: NextKey;
  leaks: LeakWatch;
}

const owner = "torture@example.gov";

/** Issues keys, which expire after a day, and learns what nobody may read. */
export async function openTarget(addresses: Addresses, counts: KeyCounts): Promise<Target> {
  const client = await connect(addresses.databaseUrl, "torture");
  try {
    const leaks = await watchLeaks(client);
    const nextKey = await issueKeys(client, counts, leaks.addSecret);
    if (addresses.directory !== undefined)
      for (const secret of await readSecrets(addresses.directory)) leaks.addSecret(secret);
    return { ...addresses, nextKey, leaks };
  } finally {
    await client.end();
  }
}

/** How many keys: so many that none of them exceeds its hourly limit. */
type KeyCounts = Record<"individual" | "tribal", number>;

/**
 * Issues keys as the database's superuser.
 *
 * @returns a function that returns a tier's keys in turn
 */
export async function issueKeys(
  client: Client,
  counts: KeyCounts,
  onKey: (key: string) => void = () => {},
): Promise<NextKey> {
  const { rows } = await client.query<{ tier: keyof KeyCounts; key: string }>(
    `with agreement as materialized (
       select access.request_agreement('Torture', $1) as id from set_config('access.operator', 'torture', false)
     ), approved as materialized (
       select id, access.decide_agreement(id, 'approved', 'Nobody', 'No agency', $1) from agreement
     )
     select 'tribal' as tier, (access.issue_key('tribal', $1, 'a test', now() + interval '1 day', id)).api_key as key
     from approved, generate_series(1, $2)
     union all
     select 'individual', (access.issue_key('individual', $1, 'a test', now() + interval '1 day')).api_key
     from generate_series(1, $3)`,
    [owner, counts.tribal, counts.individual],
  );
  for (const { key } of rows) onKey(key);
  let turn = 0;
  return (wanted) => {
    const keys = rows.filter(({ tier }) => tier === wanted);
    turn += 1;
    return keys[turn % keys.length]?.key ?? "";
  };
}

/** The passwords and keys of a stack, and the token that PostgREST trusts. */
async function readSecrets(directory: string): Promise<string[]> {
  const text = await readFile(path.join(directory, "secrets.json"), "utf8");
  const strings = [...text.matchAll(/: "([^"]+)"/g)].map(([, value = ""]) => value);
  return [...strings, await signGatewayToken(JSON.parse(text).jwtSecret)];
}

/** Knows secrets and suppressed values, and finds them in text. */
export type LeakWatch = Awaited<ReturnType<typeof watchLeaks>>;

/** Reads the values of suppressed submissions that no public submission has. The report ID is public (docs/decisions/0001). */
async function watchLeaks(client: Client) {
  // A shorter value, or one of letters alone, may appear by chance.
  const select = (schema: string) =>
    `select field.value from ${schema}.general, jsonb_each_text(to_jsonb(general) - 'report_id') as field
     where length(field.value) >= 12 and field.value ~ '[0-9@]' and field.value !~ '^\\d{4}-\\d\\d-\\d\\d'`;
  const { rows } = await client.query<{ value: string }>(
    `${select("suppressed")} except ${select("disclosed")}`,
  );
  const suppressed = new Set(rows.map(({ value }) => value));
  const secrets = new Set<string>();
  const findIn = (known: Set<string>) => (text: string) => [...known].filter((each) => text.includes(each));
  return {
    addSecret: (secret: string): void => void secrets.add(secret),
    findSecrets: findIn(secrets),
    findSuppressed: findIn(suppressed),
  };
}
