import { expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";

const database = useDeployedDatabase();

const forbidden = {
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
