import { createHash } from "node:crypto";
import type { DatabaseError } from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";

// What request.authorize() decides by the headers that the gateway sets.

const database = useDeployedDatabase();
let hash: string;

beforeAll(async () => {
  const { rows } = await database.client.query(
    "select api_key from access.issue_key('individual', 'a@example.gov')",
  );
  hash = createHash("sha256").update(rows[0].api_key).digest("hex");
});

/** Authorizes a request in a transaction that is rolled back. Returns the settings that it leaves, or the refusal. */
async function authorize(headers: Record<string, string>) {
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
      "select current_user as role, current_setting('request.id', true) as request_id, current_setting('request.api_key_id') as key",
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
  it("is found by its hash", async () => {
    expect(await authorize({ "x-api-key-sha256": hash })).toMatchObject({ role: "api_public" });
  });

  it.each([
    ["no hash", () => ({})],
    ["an empty hash", () => ({ "x-api-key-sha256": "" })],
    ["an unknown hash", () => ({ "x-api-key-sha256": "0".repeat(64) })],
    ["the beginning of a hash", () => ({ "x-api-key-sha256": hash.slice(0, 62) })],
    ["a hash in capitals", () => ({ "x-api-key-sha256": hash.toUpperCase().replace(/^\d/, "A") })],
    ["a hash with a space", () => ({ "x-api-key-sha256": ` ${hash}` })],
    ["two hashes", () => ({ "x-api-key-sha256": `${hash},${hash}` })],
    ["what is no hexadecimal", () => ({ "x-api-key-sha256": "z".repeat(64) })],
    ["an ID", () => ({ "x-consumer-custom-id": "00000000-0000-4000-8000-000000000000" })],
  ])("is not valid with %s", async (_what, headers) => {
    expect(await authorize(headers())).toEqual({ code: "API_KEY_INVALID", status: 401 });
  });

  it("is found by an index", async () => {
    const { client } = database;
    await client.query("begin; set local enable_seqscan = off");
    const { rows } = await client.query(
      `explain select * from request.keys where key_sha256 = decode('${hash}', 'hex')`,
    );
    await client.query("rollback");
    expect(JSON.stringify(rows)).toContain("api_keys_key_is_unique");
  });
});

describe("the request's ID", () => {
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
    ["ä", false],
    ["", false],
  ])("%j: taken is %s", async (id, isTaken) => {
    const { request_id } = await authorize({ "x-api-key-sha256": hash, "x-request-id": id });
    expect(request_id || null).toBe(isTaken ? id : null);
  });
});
