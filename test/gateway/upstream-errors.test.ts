import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningStack, runStack } from "../support/run-stack.ts";
import { makeSmallSample } from "../support/small-sample.ts";
import { send } from "../support/target.ts";

// What the gateway adds to PostgREST's errors. A stack of its own, whose tiers are given no time at all.

let sample: Awaited<ReturnType<typeof makeSmallSample>>;
let stack: RunningStack;
let client: Client;

beforeAll(async () => {
  sample = await makeSmallSample();
  stack = await runStack({ args: ["--data", sample.directory] });
  client = new Client({ connectionString: stack.facts.database_url });
  await client.connect();
  await client.query("update access.tiers set statement_timeout = '1 ms'");
});
afterAll(async () => {
  await client.end();
  await stack.dispose();
  await sample.remove();
});

const slow = "/federal_awards?select=*,general(*)&order=cluster_name";
const ask = (path: string, method = "GET", headers: Record<string, string> = {}) =>
  send(stack.facts.base_url, path, {
    method,
    headers: { "x-api-key": stack.facts.keys.individual, ...headers },
  });

describe("a query that runs longer than its tier allows", () => {
  it.each(["application/json", "text/csv", "application/vnd.pgrst.object+json"])(
    "is answered with what to do about it, to who asks for %s",
    async (accept) => {
      const answer = await ask(slow, "GET", { accept, "accept-encoding": "gzip" });
      expect(answer.status).toBe(500);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.json).toEqual({
        code: "57014",
        details: null,
        hint:
          "The query ran longer than this key may. Filter by report_id, audit_year, fac_accepted_date " +
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

it("a service that is switched off says when to come back", async () => {
  await client.query("update publication.settings set is_open = false");
  try {
    const answer = await ask("/general?limit=1");
    expect([answer.status, answer.json.code, answer.headers["retry-after"]]).toEqual([
      503,
      "service_switched_off",
      "30",
    ]);
  } finally {
    await client.query("update publication.settings set is_open = true");
  }
});

it("an error of another kind is passed on as it is", async () => {
  const answer = await ask("/federal_awards?no_such_column=eq.1");
  expect([answer.status, answer.json.code, answer.json.hint]).toEqual([400, "42703", null]);
});
