import { expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";

const database = useDeployedDatabase();

const tier = (change: string) => `update access.tiers set ${change} where name = 'individual'`;
const retire = (version: string, link: string) =>
  `insert into deployment.retired_versions values ('${version}', now(), now() + interval '1 day', '${link}')`;
const key = (columns: string, values: string) =>
  `insert into access.api_keys (owner_email, key_sha256, ${columns}) values ('ada@example.gov', sha256('x'), ${values})`;

const forbidden = {
  tiers_leave_connections_to_others: tier("requests_at_a_time = 5"),
  tiers_limited_by_is_known: tier("limited_by = 'nobody'"),
  tiers_database_role_is_served: tier("database_role = 'publisher'"),
  tiers_only_tribal_sees_suppressed: tier("database_role = 'api_tribal'"),
  api_keys_prefix_is_short: key("tier, key_prefix", "'individual', 'individual_key'"),
  api_keys_tribal_has_an_agreement: key("tier, key_prefix, expires_at", "'tribal', 'prefix', now()"),
  tribal_access_agreements_only_approved_ends: `insert into access.tribal_access_agreements (organization, contact_email)
    values ('Nation', 'a@example.gov');
    update access.tribal_access_agreements set decision = 'approved', decided_at = now(), decided_by_name = 'Ada',
    decided_by_agency = 'Agency', decided_by_email = 'a@example.gov', ends_on = 'infinity'`,
  retired_versions_version_is_well_formed: retire("api_v1", "https://example.gov"),
  retired_versions_link_is_an_address: retire("v9", "javascript:alert(1)"),
  retired_versions_sunset_comes_later:
    "insert into deployment.retired_versions values ('v9', now(), now(), 'https://example.gov')",
  settings_token_retention_is_not_negative: "update access.settings set token_retention = '-1 s'",
  access_tokens_token_is_a_sha256:
    "insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at) select 'x', api_key_id, 'x', now() from access.issue_key('individual', 'a@example.gov', '', null, null)",
  data_sets_one_is_live:
    "insert into publication.data_sets (source, row_counts, state) values ('x', '{}', 'live'), ('x', '{}', 'live')",
};

it.each(Object.entries(forbidden))("%s", async (name, statement) => {
  await expect(database.client.query(statement)).rejects.toThrow(`"${name}"`);
});
