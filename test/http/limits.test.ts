import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { connect } from "../../shared/connect.ts";
import { describeRequestsAtATime, gatewayConfigFile, readRateLimits } from "../../shared/read-rate-limits.ts";
import {
  type KeyName,
  makeAddress,
  query,
  queryValue,
  type Request,
  request,
  target,
} from "../support/target.ts";

const page = "/general?limit=1&select=report_id";

it("the gateway waits longer than any query may run, and tries other PostgREST instances for a second", async () => {
  const [service] = parse(await readFile(gatewayConfigFile(), "utf8")).services;
  const longest = await queryValue<number>(
    "select extract(epoch from max(statement_timeout))::int from access.tiers",
  );
  expect(service.read_timeout).toBeGreaterThan(longest * 1000);
  expect(service.connect_timeout * (1 + service.retries)).toBeLessThanOrEqual(1000);
});

describe("requests per hour and day", () => {
  const limits = readRateLimits();
  const { hour = 0, day = 0 } = limits.tiers.get("demo") ?? {};

  // Windows are calendar hours (UTC), so a test that starts at the end of one waits for the next.
  beforeEach(async () => {
    const left = 3_600_000 - (Date.now() % 3_600_000);
    if (left < 20_000) await sleep(left + 500);
  });

  it("with the demonstration key are limited by client address, which headers cannot change", async () => {
    const from = makeAddress();
    for (let count = 1; count <= hour; count += 1) {
      const { status, headers } = await request(page, { key: "demo", from });
      const names = ["limit-hour", "remaining-hour", "limit-day", "remaining-day"];
      const numbers = names.map((name) => Number(headers[`x-ratelimit-${name}`]));
      expect([status, ...numbers]).toEqual([200, hour, hour - count, day, day - count]);
    }
    const claims = ["x-forwarded-for", "x-real-ip", "x-client-network", "forwarded"];
    for (const name of claims) {
      const claim = { [name]: name === "forwarded" ? "for=203.0.113.7" : "203.0.113.7" };
      const { status, headers, json } = await request(page, { key: "demo", from, headers: claim });
      expect(status, name).toBe(429);
      expect(headers["content-type"]).toMatch(/^application\/json/);
      expect(Number(headers["retry-after"])).toBeGreaterThan(0);
      expect(Number(headers["retry-after"])).toBeLessThanOrEqual(3600);
      expect(headers["x-ratelimit-remaining-hour"]).toBe("0");
      expect(headers["x-ratelimit-remaining-day"]).toBe(String(day - hour));
      const error = { code: "OVER_RATE_LIMIT", message: expect.stringContaining("Retry-After") };
      expect(json).toMatchObject({ ...error, error: { ...error, message: json.message } });
    }
    expect((await request(`${page}&api_key=${target.keys.demo}`, { from })).status).toBe(429);
    expect((await request(page, { key: "demo", from: makeAddress() })).status).toBe(200);
    expect((await request(page, { key: "individual", from })).status).toBe(200);
  });

  it("with an individual key are limited by key, from whatever address", async () => {
    const findRemaining = async () => {
      const { headers } = await request(page, { key: "individual", from: makeAddress() });
      expect(headers["x-ratelimit-limit-hour"]).toBe(String(limits.others.hour));
      return Number(headers["x-ratelimit-remaining-hour"]);
    };
    const before = await findRemaining();
    expect(await findRemaining()).toBe(before - 1);
    // A 401 for a key that exists must not reset its count.
    const forTribes = { "accept-profile": "admin_api_v1_1_0" };
    expect((await request("/", { key: "individual", headers: forTribes })).status).toBe(401);
    expect(await findRemaining()).toBe(before - 3);
  });
});

describe("concurrent requests", () => {
  // A lock on the table that these requests read keeps them running until the test releases it.
  let client: Client;
  beforeEach(async () => {
    client = await connect(target.databaseUrl, "test");
    await client.query("begin");
    await client.query("lock table disclosed.notes_to_sefa in access exclusive mode");
  });
  afterEach(async () => await client.end());

  const countWaiting = () =>
    queryValue<number>(
      "select count(*)::integer from pg_locks where relation = 'disclosed.notes_to_sefa'::regclass and not granted",
    );

  const { atATime } = readRateLimits();

  /** Sends as many requests as a key may have in progress. They wait for the lock. `release` expects 200 for each. */
  async function occupy(key: KeyName, options: Pick<Request, "from"> = {}) {
    const answers = Array.from({ length: atATime.key }, () =>
      request("/notes_to_sefa?limit=1", { key, ...options }),
    );
    await expect.poll(countWaiting).toBe(atATime.key);
    const release = async () => {
      await client.query("rollback");
      for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    };
    return { release };
  }
  /** Whether a request waits for others: it has no answer yet. */
  const isHeldUp = (answer: Promise<unknown>) => Promise.race([answer.then(() => false), sleep(500, true)]);

  it("with one key wait for each other, and other keys are still served", async () => {
    const key = "individual";
    const { release } = await occupy(key);
    const more = Array.from({ length: 12 }, () => request(page, { key }));
    expect(await isHeldUp(Promise.race(more))).toBe(true);
    expect((await request(page, { key: "tribal" })).status).toBe(200);
    await release();
    for (const { status } of await Promise.all(more)) expect(status).toBe(200);
  });

  it("with the demonstration key are counted by client address, which headers cannot change", async () => {
    const from = makeAddress();
    const { release } = await occupy("demo", { from });
    const claims = ["x-client-network", "x-real-ip", "x-forwarded-for"].map((name) =>
      request(page, { key: "demo", from, headers: { [name]: "203.0.113.7" } }),
    );
    expect(await isHeldUp(Promise.race(claims))).toBe(true);
    expect((await request(page, { key: "demo" })).status).toBe(200);
    await release();
    for (const { status } of await Promise.all(claims)) expect(status).toBe(200);
  });

  it("are described in the documentation as the gateway counts them", async () => {
    const document = await readFile(new URL("../../docs/api.md", import.meta.url), "utf8");
    expect(document.replace(/\s+/g, " ")).toContain(describeRequestsAtATime(readRateLimits()));
  });
});

describe("a query that runs longer than its tier allows", () => {
  const setTimeLimit = (limit: string) =>
    query("update access.tiers set statement_timeout = $1::interval where name = 'individual'", [limit]);
  let limit: string;
  beforeAll(async () => {
    limit = await queryValue("select statement_timeout::text from access.tiers where name = 'individual'");
    // A shorter limit may end a statement while it is prepared. PostgREST then answers 42P05 on that connection from then on.
    await setTimeLimit("200 ms");
  });
  afterAll(() => setTimeLimit(limit));

  it.each(["application/json", "text/csv", "application/vnd.pgrst.object+json"])(
    "gets an error that says what to do, also as %s",
    async (accept) => {
      const slow = "/federal_awards?select=*,general(*)&order=cluster_name";
      const options = { key: "individual", headers: { accept, "accept-encoding": "gzip" } } as const;
      const { status, headers, json } = await request(slow, options);
      expect([status, headers["content-type"]]).toEqual([500, "application/json; charset=utf-8"]);
      expect(json).toEqual({
        code: "57014",
        details: null,
        hint: expect.stringContaining("Filter by report_id, audit_year, fac_accepted_date"),
        message: "canceling statement due to statement timeout",
      });
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(await request(slow, { ...options, method: "HEAD" })).toMatchObject({ status, text: "" });
    },
  );
});
