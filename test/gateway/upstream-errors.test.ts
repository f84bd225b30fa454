import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, target } from "../support/target.ts";

// What the gateway adds to PostgREST's errors. The tiers of the stack are given no time at all meanwhile.

let client: Client;
let tiers: { name: string; statement_timeout: string }[];

beforeAll(async () => {
  client = new Client({ connectionString: target.databaseUrl });
  await client.connect();
  ({ rows: tiers } = await client.query("select name, statement_timeout::text from access.tiers"));
  await client.query("update access.tiers set statement_timeout = '1 ms'");
});
afterAll(async () => {
  for (const { name, statement_timeout: time } of tiers)
    await client.query("update access.tiers set statement_timeout = $2 where name = $1", [name, time]);
  await client.end();
});

const slow = "/federal_awards?select=*,general(*)&order=cluster_name";
const ask = (path: string, method = "GET", headers: Record<string, string> = {}) =>
  request(path, { method, key: "individual", headers });

describe("a query that runs longer than its tier allows", () => {
  it.each(["application/json", "text/csv", "application/vnd.pgrst.object+json"])(
    "is answered with what to do about it, also as %s",
    async (accept) => {
      const answer = await ask(slow, "GET", { accept, "accept-encoding": "gzip" });
      expect(answer.status).toBe(500);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.json).toEqual({
        code: "57014",
        details: null,
        hint:
          "The query ran longer than this key allows. Filter by report_id, audit_year, fac_accepted_date " +
          "or another indexed column, ask for fewer rows, or download the bulk files.",
        message: "canceling statement due to statement timeout",
      });
      expect(answer.headers["access-control-allow-origin"]).toBe("*");
    },
  );

  it("has no body in an answer to HEAD", async () => {
    const answer = await ask(slow, "HEAD");
    expect([answer.status, answer.text]).toEqual([500, ""]);
  });
});
