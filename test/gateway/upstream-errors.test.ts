import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { request, target } from "../support/target.ts";

// What the gateway adds to PostgREST's errors. The tiers of the stack are given no time at all meanwhile.

let client: Client;
beforeAll(async () => {
  client = new Client({ connectionString: target.databaseUrl });
  await client.connect();
  await client.query(`create temporary table before as select * from access.tiers;
    update access.tiers set statement_timeout = '1 ms'`);
});
afterAll(async () => {
  await client.query(`update access.tiers set statement_timeout = before.statement_timeout
    from before where before.name = tiers.name`);
  await client.end();
});

const slow = "/federal_awards?select=*,general(*)&order=cluster_name";

it.each(["application/json", "text/csv", "application/vnd.pgrst.object+json"])(
  "a query that runs longer than its tier allows is answered with what to do about it, also as %s",
  async (accept) => {
    const headers = { accept, "accept-encoding": "gzip" };
    const answer = await request(slow, { key: "individual", headers });
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
    const head = await request(slow, { key: "individual", method: "HEAD", headers });
    expect([head.status, head.text]).toEqual([500, ""]);
  },
);
