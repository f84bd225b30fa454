import { createHash } from "node:crypto";
import type { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";

// How request.authorize() decides, based on the headers that the gateway sets.

const database = useDeployedDatabase();
const hash = createHash("sha256").update("DEMO_KEY").digest("hex");

/** Runs request.authorize() and rolls back. Returns the settings that it made, or its refusal. */
async function authorize(headers: Record<string, string | undefined>) {
  const { client } = database;
  await client.query("begin");
  try {
    await client.query(
      `select set_config('request.method', 'GET', true), set_config('request.path', '/general', true),
         set_config('request.headers', $1, true), set_config('role', 'gateway', true)`,
      [JSON.stringify(headers)],
    );
    await client.query("select request.authorize()");
    const { rows } = await client.query(
      `select current_user as role, current_setting('request.id', true) as request_id,
         current_setting('application_name') as connection, current_setting('response.headers') as headers`,
    );
    return rows[0];
  } catch (error) {
    const { message, detail } = error as DatabaseError;
    return { code: JSON.parse(message).code, status: JSON.parse(detail ?? "{}").status };
  } finally {
    await client.query("rollback");
  }
}

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
    ["a hash in capitals", hash.toUpperCase()],
    ["a hash with a space", ` ${hash}`],
    ["two hashes", `${hash},${hash}`],
    ["a hash that is not hexadecimal", "z".repeat(64)],
  ])("is not valid with %s, even if the client sends a consumer ID", async (_what, sent) => {
    const id = "00000000-0000-4000-8000-000000000000";
    const answer = await authorize({ "x-api-key-sha256": sent, "x-consumer-custom-id": id });
    expect(answer).toEqual({ code: "API_KEY_INVALID", status: 401 });
  });
});

const run = "a1".repeat(20);
it.each([
  ["c0ffee00-1234-4000-8000-0123456789ab", true],
  ["a:b_c.d-E", true],
  ["x".repeat(39), true],
  [`${"x".repeat(39)}-${"x".repeat(23)}`, true],
  [`${"x".repeat(39)}-${"x".repeat(24)}`, false],
  [run, false],
  [`individual_${run}`, false],
  [`-${run}-`, false],
  ["with space", false],
  ["a;b", false],
  ["ä", false],
  ["", false],
])("the request ID %j is accepted, and becomes application_name: %s", async (id, isTaken) => {
  const { request_id, connection } = await authorize({ "x-api-key-sha256": hash, "x-request-id": id });
  const { rows } = await database.client.query("select current_setting('application_name') as name");
  expect([request_id || null, connection]).toEqual(isTaken ? [id, id] : [null, rows[0].name]);
});

describe("the response headers", () => {
  const readHeaders = async (): Promise<Record<string, string>> =>
    Object.assign({}, ...JSON.parse((await authorize({ "x-api-key-sha256": hash })).headers));

  it("have a new ETag after a deployment", async () => {
    const { ETag } = await readHeaders();
    await database.client.query(
      `insert into deployment.api_schemas (sha256, is_promise, definitions, fingerprint)
       select 'other', is_promise, definitions, fingerprint from deployment.api_schemas`,
    );
    expect((await readHeaders()).ETag).not.toBe(ETag);
  });

  it("announce a retirement from deprecated_at on", async () => {
    const retire = `insert into deployment.retired_versions
      values ('v1_1_0', now() + $1, now() + '1 year', 'https://example.gov') on conflict (version)
      do update set deprecated_at = excluded.deprecated_at`;
    await database.client.query(retire, ["1 minute"]);
    expect(await readHeaders()).not.toHaveProperty("Deprecation");
    await database.client.query(retire, ["-1 minute"]);
    expect(await readHeaders()).toHaveProperty("Deprecation");
  });
});
