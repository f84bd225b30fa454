import type { Client } from "pg";
import type { Secrets } from "./secrets.ts";

// Keeps a key from an earlier start if it still works.
const query = `
select
  coalesce(
    (select $1 from access.active_keys where key_sha256 = sha256(convert_to($1, 'UTF8'))),
    (select api_key from access.issue_key('individual', $3, 'made by npm start'))
  ) as individual,
  coalesce(
    (select $2 from access.active_keys where key_sha256 = sha256(convert_to($2, 'UTF8'))),
    (
      select api_key
      from access.request_agreement('Sample Tribe', $3) as agreement
      cross join lateral access.decide_agreement(agreement, 'approved', 'Sample Official', 'Sample Agency', $3)
      cross join lateral access.issue_key('tribal', $3, 'made by npm start', key_agreement_id => agreement)
    )
  ) as tribal`;

/** Makes an individual and a Tribal key for trying out the service, or returns those of an earlier start. */
export async function makeSampleKeys(
  client: Client,
  known: Secrets["sampleKeys"],
): Promise<Required<Secrets["sampleKeys"]>> {
  await client.query("select set_config('access.operator', 'npm start', false)");
  const { rows } = await client.query(query, [known.individual, known.tribal, "operator@example.gov"]);
  return rows[0];
}
