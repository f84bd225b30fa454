import type { Client } from "pg";

/** Keys of torture's own: so many that none meets its limit an hour, and no limit has to be changed. */
export interface KeyRing {
  /** The next key of a tier. */
  next: (tier: "individual" | "tribal") => string;
  /** Every key that was issued. */
  all: readonly string[];
  /** By a connection of its own: the one that issued them may be gone by then. */
  revoke: (client: Client) => Promise<void>;
}

const owner = "torture@example.gov";

/**
 * Issues keys.
 *
 * @param client the database, as its superuser
 */
export async function issueKeys(
  client: Client,
  counts: { individual: number; tribal: number },
): Promise<KeyRing> {
  await client.query("select set_config('access.operator', 'npm run torture', false)");
  const ids: string[] = [];
  const issue = async (tier: string, agreementId: string | null) => {
    const { rows } = await client.query(
      `select * from access.issue_key($1, $2, 'made by npm run torture', now() + interval '1 day', key_agreement_id => $3)`,
      [tier, owner, agreementId],
    );
    ids.push(rows[0].api_key_id);
    return String(rows[0].api_key);
  };
  const agreement = await approveAgreement(client);
  const keys: Record<"individual" | "tribal", string[]> = { individual: [], tribal: [] };
  for (let turn = 0; turn < counts.tribal; turn += 1) keys.tribal.push(await issue("tribal", agreement));
  for (let turn = 0; turn < counts.individual; turn += 1)
    keys.individual.push(await issue("individual", null));
  const turns = { individual: 0, tribal: 0 };
  const all = [...keys.tribal, ...keys.individual];
  return {
    all,
    next: (tier) => {
      turns[tier] = (turns[tier] + 1) % keys[tier].length;
      return keys[tier][turns[tier]] ?? "";
    },
    revoke: async (later) => {
      for (const id of ids) await later.query("select access.revoke_key($1)", [id]);
      await later.query("select access.revoke_agreement($1)", [agreement]);
    },
  };
}

async function approveAgreement(client: Client): Promise<string> {
  const { rows } = await client.query("select access.request_agreement('Torture', $1) as id", [owner]);
  await client.query("select access.decide_agreement($1, 'approved', 'Nobody', 'No agency', $2)", [
    rows[0].id,
    owner,
  ]);
  return rows[0].id;
}
