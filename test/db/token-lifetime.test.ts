import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";

const database = useDeployedDatabase();
const query = async (sql: string) => (await database.client.query(sql)).rows;

it("a one-time token can be redeemed for a minute, as README says, and never longer", async () => {
  const readme = await readFile("README.md", "utf8");
  const [, amount = ""] = /one-time access_uuid, valid for (\d+ minutes?)/.exec(readme) ?? [];
  const [settings] = await query(
    `select token_lifetime = interval '${amount}' as is_as_promised from access.settings`,
  );
  expect(settings).toEqual({ is_as_promised: true });
  await expect(query("update access.settings set token_lifetime = '61 seconds'")).rejects.toThrow(
    "settings_token_lifetime_is_at_most_a_minute",
  );
});

it("a Tribal key is valid for as long as docs/api.md says", async () => {
  const text = await readFile("docs/api.md", "utf8");
  const [, amount = ""] = /the key is valid for (\d+ months)/.exec(text) ?? [];
  const time = "timestamptz '2026-11-28 12:00Z'";
  const [bound] = await query(
    `select access.latest_expiry('tribal', ${time}) = ${time} + interval '${amount}' as is_as_promised`,
  );
  expect(bound).toEqual({ is_as_promised: true });
});

it("tokens and pages follow the setting", async () => {
  await query("begin");
  try {
    const [key] = await query(`
      select api_key_id as id
      from access.request_agreement('Nation', 'a@example.gov') as agreement
      cross join lateral access.decide_agreement(agreement, 'approved', 'Ada', 'Agency', 'a@example.gov')
      cross join lateral access.issue_key('tribal', 'a@example.gov', key_agreement_id => agreement)`);
    await query("update access.settings set token_lifetime = '20 seconds'");
    await query(`select set_config('request.api_key_id', '${key?.id}', true)`);
    const issued = await query(
      "select extract(epoch from expires_at - now())::integer as seconds from access.issue_access_token('2023-06-GSAFAC-0000000001')",
    );
    expect(issued).toEqual([{ seconds: 20 }]);
    const described = await query("select publication.describe_service() -> 'token_seconds' as seconds");
    expect(described).toEqual([{ seconds: 20 }]);
  } finally {
    await query("rollback");
  }
});
