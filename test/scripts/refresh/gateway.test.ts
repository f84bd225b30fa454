import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { connect } from "../../../shared/connect.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { request, target } from "../../support/target.ts";
import { accepted } from "./support/refresh.ts";

// How often to swap the live and the previous data set: an even number leaves the deployment as it was.
const swaps = 6;
let client: Client;
let key: { value: string };

beforeAll(async () => {
  client = await connect(target.databaseUrl, "test");
  const { rows } = await client.query(
    "select api_key from access.issue_key('individual', 'test@example.org', 'publication under load')",
  );
  key = { value: rows[0].api_key };
  await client.query("set role publisher");
  const { rowCount } = await client.query("select from publication.data_sets where state = 'previous'");
  if (rowCount === 0) {
    await refreshDataSet(client, { ...accepted, from: await makeSmallSample() });
    await rollBack(client);
  }
});
afterAll(async () => {
  await client.query("reset role");
  await client.query(
    `select access.revoke_key(id) from access.api_keys
     where owner_email = 'test@example.org' and label = 'publication under load' and revoked_at is null`,
  );
  await client.end();
});

it("no reader behind the gateway notices a publication: no failure, no mixed data", async () => {
  await expect.poll(async () => (await request("/general?limit=1", { key })).status).toBe(200);
  let isSwapping = false;
  let askedDuringSwaps = 0;
  const seen = new Map<string, Set<string>>();
  let stopped = false;
  const read = async () => {
    while (!stopped) {
      if (isSwapping) askedDuringSwaps += 1;
      const answer = await request("/general?select=report_id&limit=50", { key });
      expect(answer.status, answer.text).toBe(200);
      const dataSet = String(answer.headers["data-set"]).split(";")[0] ?? "";
      seen.set(dataSet, (seen.get(dataSet) ?? new Set()).add(answer.text));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const readers = Promise.all([read(), read(), read()]);
  for (let count = 0; count < swaps; count += 1) {
    isSwapping = true;
    await rollBack(client);
    isSwapping = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  stopped = true;
  await readers;
  expect(seen.size).toBe(2);
  for (const bodies of seen.values()) expect(bodies.size).toBe(1);
  expect(askedDuringSwaps).toBeGreaterThan(0);
});
