import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { signGatewayToken } from "../../scripts/stack/sign-gateway-token.ts";
import { connect } from "../../shared/connect.ts";

/** Where to reach a deployment. */
export interface Addresses {
  baseUrl: string;
  appUrl: string;
  /** Logs in as a superuser. */
  databaseUrl: string;
  /** The directory of a stack on this machine. If missing, logs and the stack's secrets are not read. */
  directory?: string | undefined;
}

/** A deployment with keys for this run. */
export interface Target extends Addresses {
  /** Returns a tier's keys in turn. */
  nextKey: (tier: "individual" | "tribal") => string;
  leaks: LeakWatch;
}

/**
 * Issues keys that expire after a day, and collects the secrets and suppressed values to watch for.
 *
 * @param counts how many keys of each tier: enough that no key exceeds its hourly limit
 */
export async function openTarget(
  addresses: Addresses,
  counts: Record<"individual" | "tribal", number>,
): Promise<Target> {
  const client = await connect(addresses.databaseUrl, "torture");
  try {
    const leaks = await watchLeaks(client);
    const { rows } = await client.query<{ tier: string; key: string }>(
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
      ["torture@example.gov", counts.tribal, counts.individual],
    );
    const { directory } = addresses;
    const secrets = directory === undefined ? [] : await readSecrets(directory);
    for (const secret of [...rows.map(({ key }) => key), ...secrets]) leaks.addSecret(secret);
    const turns = { individual: 0, tribal: 0 };
    const nextKey: Target["nextKey"] = (wanted) => {
      const keys = rows.filter(({ tier }) => tier === wanted);
      return keys[turns[wanted]++ % keys.length]?.key ?? "";
    };
    return { ...addresses, nextKey, leaks };
  } finally {
    await client.end();
  }
}

/** Returns a stack's passwords and keys, and the gateway's token for PostgREST. */
async function readSecrets(directory: string): Promise<string[]> {
  const text = await readFile(path.join(directory, "secrets.json"), "utf8");
  const strings = [...text.matchAll(/: "([^"]+)"/g)].map(([, value = ""]) => value);
  return [...strings, await signGatewayToken(JSON.parse(text).jwtSecret)];
}

/** Finds known secrets and suppressed values in text. */
type LeakWatch = Awaited<ReturnType<typeof watchLeaks>>;

/** Collects values that only suppressed submissions have, except the public report IDs (docs/decisions/0001). */
async function watchLeaks(client: Client) {
  // Other values, such as short ones, words and dates, may appear by chance.
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
