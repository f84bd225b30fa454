import { createHash } from "node:crypto";
import type { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { connect } from "../../shared/connect.ts";
import { usePublishedDatabase } from "../support/scratch-database.ts";

// How request.authorize() decides, based on the headers that the gateway sets.

const database = usePublishedDatabase();
const hash = createHash("sha256").update("DEMO_KEY").digest("hex");

/**
 * Runs request.authorize() and rolls back. Returns the settings that it made, or its refusal. Expects that it wrote nothing:
 * a transaction with an ID would wait for a replica when it commits.
 */
async function authorize(
  headers: Record<string, string | undefined>,
  { method = "GET", path = "/general", before = "select" } = {},
) {
  const { client } = database;
  await client.query(`begin; ${before}`);
  try {
    const prepared = await client.query(
      `select pg_current_xact_id_if_assigned() as written, set_config('request.method', $2, true), set_config('request.path', $3, true),
         set_config('request.headers', $1, true), set_config('role', 'gateway', true)`,
      [JSON.stringify(headers), method, path],
    );
    await client.query("savepoint before");
    const refusal = await client.query("select request.authorize()").then(
      () => undefined,
      (error: DatabaseError) => error,
    );
    if (refusal !== undefined) await client.query("rollback to before");
    const { rows } = await client.query(
      `select pg_current_xact_id_if_assigned() as written, current_user as role,
         current_setting('request.id', true) as request_id, current_setting('application_name') as connection,
         current_setting('response.headers', true) as headers,
         (select array_agg(classid::bigint) from pg_locks where objsubid = 2 and pid = pg_backend_pid()) as places`,
    );
    expect(rows[0].written).toEqual(prepared.rows[0].written);
    if (refusal === undefined) return rows[0];
    return { code: JSON.parse(refusal.message).code, status: JSON.parse(refusal.detail ?? "{}").status };
  } finally {
    await client.query("rollback");
  }
}

it.each<[path: string, headers: Record<string, string>, code?: string]>([
  ["/", {}],
  ["/findings_text", {}],
  ["/general", { "accept-profile": "api_v0" }, "PGRST106"],
  ["/general", { "accept-profile": "admin_api_v1_1_0" }, "tribal_key_required"],
  ["/general", { "x-if-match": '"other"' }, "data_set_changed"],
  ["/general", { "x-filter-report-id": "eq.none" }, "report_not_found"],
])("a request for %s with %j writes nothing", async (path, headers, code) => {
  const decision = await authorize({ "x-api-key-sha256": hash, ...headers }, { path });
  expect(decision.code).toBe(code);
});

describe("the key", () => {
  it("is found by its hash, through an index", async () => {
    expect(await authorize({ "x-api-key-sha256": hash })).toMatchObject({ role: "api_public" });
    const { client } = database;
    await client.query("begin; set local enable_seqscan = off");
    const { rows } = await client.query(
      `explain select * from request.keys where key_sha256 = decode('${hash}', 'hex')`,
    );
    await client.query("rollback");
    expect(JSON.stringify(rows)).toContain("api_keys_key_is_unique");
  });

  it.each<[what: string, sent?: string]>([
    ["no hash"],
    ["an empty hash", ""],
    ["an unknown hash", "0".repeat(64)],
    ["the beginning of a hash", hash.slice(0, 62)],
  ])("is not valid with %s, even if the client sends a consumer ID", async (_what, sent) => {
    const id = "00000000-0000-4000-8000-000000000000";
    const answer = await authorize({ "x-api-key-sha256": sent, "x-consumer-custom-id": id });
    expect(answer).toEqual({ code: "API_KEY_INVALID", status: 401 });
  });
});

it("a request with DEMO_KEY takes one of its network's places, and one with another key one of the key's", async () => {
  const { rows } = await database.client.query(
    "select encode(sha256(api_key::bytea), 'hex') as own from access.issue_key('individual', 'places@example.gov')",
  );
  const find = async (sha256: string, network: string) =>
    (await authorize({ "x-api-key-sha256": sha256, "x-client-network": network })).places;
  const [first, second] = ["192.0.2.1", "192.0.2.2"];
  expect(await find(hash, first)).toEqual([expect.any(String)]);
  expect(await find(hash, first)).not.toEqual(await find(hash, second));
  expect(await find(rows[0].own, first)).toEqual(await find(rows[0].own, second));
});

it("a key whose queries already take all its places, across gateways, gets 429", async () => {
  const other = await connect(database.url, "test");
  try {
    const [{ id, places }] = (
      await database.client.query(
        "select id, requests_at_a_time as places from request.keys where key_sha256 = decode($1, 'hex')",
        [hash],
      )
    ).rows;
    const hold = "select pg_advisory_lock(hashtext($1), place) from generate_series(1, $2::int) as place";
    await other.query(hold, [`${id} 192.0.2.1`, places]);
    const ask = (network: string) => authorize({ "x-api-key-sha256": hash, "x-client-network": network });
    expect(await ask("192.0.2.1")).toEqual({ code: "too_many_requests_at_a_time", status: 429 });
    expect(await ask("192.0.2.2")).toMatchObject({ role: "api_public" });
  } finally {
    await other.end();
  }
});

describe("until a data set is published", () => {
  const before = "update disclosed.data_set set published_at = null";

  it.each<[what: string, request: { method?: string; path?: string }, headers?: Record<string, string>]>([
    ["a read", {}],
    ["a read of a report", {}, { "x-filter-report-id": "eq.none" }],
    ["a read with any ETag", {}, { "if-none-match": "*" }],
    ["HEAD", { method: "HEAD" }],
    ["a call", { method: "POST", path: "/rpc/other_function" }],
  ])("%s with a valid key gets 504, which the gateway sends as 503", async (_what, request, headers) => {
    const sent = { "x-api-key-sha256": hash, ...headers };
    expect(await authorize(sent, { ...request, before })).toEqual({ code: "no_data_set", status: 504 });
  });

  it("invalid keys, keys without Tribal access and switched-off services are refused as before", async () => {
    expect(await authorize({}, { before })).toMatchObject({ status: 401 });
    const call = { method: "POST", path: "/rpc/request_file_access", before };
    const refusal = { code: "tribal_key_required", status: 401 };
    for (const profile of [undefined, "api_v1_1_0", "admin_api_v1_1_0"])
      expect(await authorize({ "x-api-key-sha256": hash, "content-profile": profile }, call)).toEqual(
        refusal,
      );
    const off = `${before}; update publication.settings set is_switched_on = false`;
    const answer = await authorize({ "x-api-key-sha256": hash }, { before: off });
    expect(answer).toEqual({ code: "service_switched_off", status: 504 });
  });

  it("unknown keys get 504 while no key has been issued, because a backup may be about to bring them", async () => {
    const unknown = { "x-api-key-sha256": "0".repeat(64) };
    const empty =
      "set local session_replication_role = replica; delete from access.api_keys where tier <> 'demo'";
    const refused = { code: "API_KEY_INVALID", status: 401 };
    expect(await authorize(unknown, { before: `${before}; ${empty}` })).toEqual({
      code: "no_data_set",
      status: 504,
    });
    expect(await authorize(unknown, { before: empty })).toEqual(refused);
    const issued = `${before}; ${empty}; select access.issue_key('individual', 'first@example.gov')`;
    expect(await authorize(unknown, { before: issued })).toEqual(refused);
  });

  it("the API's description is served", async () => {
    const described = await authorize({ "x-api-key-sha256": hash }, { path: "/", before });
    expect(described).toMatchObject({ role: "api_public" });
  });
});

it("the request's ID becomes application_name", async () => {
  const id = "c0ffee00-1234-4000-8000-0123456789ab";
  const { request_id, connection } = await authorize({ "x-api-key-sha256": hash, "x-request-id": id });
  expect([request_id, connection]).toEqual([id, id]);
  const { rows } = await database.client.query("select current_setting('application_name') as name");
  expect((await authorize({ "x-api-key-sha256": hash })).connection).toBe(rows[0].name);
});

describe("the response headers", () => {
  const readHeaders = async (sent = {}, request = {}): Promise<Record<string, string>> =>
    Object.assign(
      {},
      ...JSON.parse((await authorize({ "x-api-key-sha256": hash, ...sent }, request)).headers),
    );

  it("have an ETag, with which a request gets 304", async () => {
    const decision = await authorize({
      "x-api-key-sha256": hash,
      "if-none-match": (await readHeaders()).ETag,
    });
    expect(decision).toEqual({ code: "not_modified", status: 304 });
  });

  it("have a new ETag after a deployment", async () => {
    const { ETag } = await readHeaders();
    await database.client.query(
      `insert into deployment.api_schemas (sha256, is_promise)
       select 'other', is_promise from deployment.api_schemas`,
    );
    expect((await readHeaders()).ETag).not.toBe(ETag);
  });

  it("have another ETag if the gateway completes orders by other rules", async () => {
    const { ETag } = await readHeaders();
    expect((await readHeaders({ "x-order-rules": "other" })).ETag).not.toBe(ETag);
  });

  it("have a new ETag after a rollback, because Data-Set has another time", async () => {
    const { ETag } = await readHeaders();
    const before = "update disclosed.data_set set published_at = now()";
    expect((await readHeaders({}, { before })).ETag).not.toBe(ETag);
  });

  it("permit the gateway to keep a page if it can, unless the key has Tribal access", async () => {
    const sent = { "x-cacheable": "yes" };
    expect(await readHeaders()).not.toHaveProperty("X-Accel-Expires");
    expect(await readHeaders(sent)).toMatchObject({ "X-Accel-Expires": "@1" });
    const before = `alter table access.tiers drop constraint tiers_only_tribal_sees_suppressed;
      update access.tiers set database_role = 'api_tribal' where name = 'demo'`;
    expect(await readHeaders(sent, { before })).not.toHaveProperty("X-Accel-Expires");
  });

  it("announce a retirement from deprecated_at on", async () => {
    const retire = `insert into deployment.retired_versions
      values ('v1_1_0', now() + $1, now() + '1 year', 'https://example.gov') on conflict (version)
      do update set deprecated_at = excluded.deprecated_at`;
    await database.client.query(retire, ["1 minute"]);
    const sent = { "x-cacheable": "yes" };
    const earlier = await readHeaders(sent);
    expect(earlier).not.toHaveProperty("Deprecation");
    await database.client.query(retire, ["-1 minute"]);
    const later = await readHeaders(sent);
    expect(later).toMatchObject({ Deprecation: expect.any(String), "X-Accel-Expires": "@1" });
    // Otherwise pages that a gateway or a client has kept would not announce it.
    expect(later.ETag).not.toBe(earlier.ETag);
  });
});

it("clients that name no version get the lowest one, by number", async () => {
  await database.client.query(
    "begin; create schema api_v1_1_10 authorization api_owner; create schema api_v1_1_9 authorization api_owner",
  );
  const { rows } = await database.client.query("select name from publication.served_schemas order by place");
  await database.client.query("rollback");
  const names = rows.map(({ name }) => name);
  expect(names).toEqual(["api_v1_1_0", "api_v1_1_9", "api_v1_1_10", "admin_api_v1_1_0"]);
});
