import type { Client } from "pg";
import type { Secrets } from "./secrets.ts";

const label = "made by npm start";
const owner = "operator@example.gov";

/** Makes an individual and a Tribal key for trying the service out, unless those of an earlier start still work. */
export async function makeSampleKeys(
  client: Client,
  known: Secrets["sampleKeys"],
): Promise<Required<Secrets["sampleKeys"]>> {
  await client.query("select set_config('access.operator', 'npm start', false)");
  return {
    individual: (await keepIfActive(client, known.individual)) ?? (await issueKey(client, "individual")),
    tribal:
      (await keepIfActive(client, known.tribal)) ??
      (await issueKey(client, "tribal", await approveSampleAgreement(client))),
  };
}

async function keepIfActive(client: Client, key: string | undefined): Promise<string | undefined> {
  if (key === undefined) return undefined;
  const { rowCount } = await client.query(
    "select from access.active_keys where key_sha256 = sha256(convert_to($1, 'UTF8'))",
    [key],
  );
  return rowCount === 1 ? key : undefined;
}

async function issueKey(client: Client, tier: string, agreementId?: string): Promise<string> {
  const { rows } = await client.query<{ api_key: string }>(
    "select api_key from access.issue_key($1, $2, $3, key_agreement_id => $4)",
    [tier, owner, label, agreementId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`No ${tier} key was made.`);
  return row.api_key;
}

async function approveSampleAgreement(client: Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    "select access.request_agreement('Sample Tribe', $1) as id",
    [owner],
  );
  const [agreement] = rows;
  if (agreement === undefined) throw new Error("No agreement was made.");
  await client.query(
    "select access.decide_agreement($1, 'approved', 'Sample Official', 'Sample Agency', $2)",
    [agreement.id, owner],
  );
  return agreement.id;
}
