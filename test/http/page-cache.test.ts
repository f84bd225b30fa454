import { beforeAll, expect, it } from "vitest";
import { queryValue, request } from "../support/target.ts";

// A gateway may keep large pages that a client has read (test/gateway/page-cache.test.ts). No client notices.

const page = "/general?limit=1000&is_public=eq.false";
let value: string;
beforeAll(async () => {
  value = await queryValue("select api_key from access.issue_key('individual', 'pages@example.gov')");
});

it("a page that was read before is the same, except to a Tribal key, which sees more", async () => {
  const first = await request(page, { key: { value } });
  expect(first.json.length).toBeGreaterThan(0);
  for (const _ of "ab") expect((await request(page, { key: { value } })).text).toBe(first.text);
  const tribal = await request(page, { key: "tribal" });
  expect(tribal.json).toHaveLength(first.json.length);
  expect(tribal.text).not.toBe(first.text);
  for (const row of first.json) expect(row.auditee_name).toBeNull();
  for (const row of tribal.json) expect(row.auditee_name).not.toBeNull();
  expect((await request(page, { key: { value } })).text).toBe(first.text);
});

it("a page that was read before gets 412 if the data set has changed since the walk began", async () => {
  for (const _ of "ab") await request(page, { key: { value } });
  const walk = await request(page, { key: { value }, headers: { "if-match": '"earlier"' } });
  expect([walk.status, walk.json.code]).toEqual([412, "data_set_changed"]);
});

it("a page that was read before is refused once the key is revoked", async () => {
  for (const _ of "ab") expect((await request(page, { key: { value } })).status).toBe(200);
  const revoke =
    "select access.revoke_key(id) from access.api_keys where key_sha256 = sha256($1::text::bytea)";
  await queryValue(revoke, [value]);
  const { status, json } = await request(page, { key: { value } });
  expect([status, json.code]).toEqual([401, "API_KEY_INVALID"]);
});
