import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, type KeyName, makeAddress, queryValue, request, target } from "../support/target.ts";

// A lock on the table that these requests read keeps them under way for as long as the test wants.
let client: Client;
beforeEach(async () => {
  client = new Client({ connectionString: target.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query("lock table disclosed.notes_to_sefa in access exclusive mode");
});
afterEach(async () => await client.end());

const countWaiting = () =>
  queryValue<number>(
    "select count(*)::integer from pg_locks where relation = 'disclosed.notes_to_sefa'::regclass and not granted",
  );
const findPlaces = (tier: KeyName) =>
  queryValue<number>("select requests_at_a_time from access.tiers where name = $1", [tier]);

/** Sends so many requests that wait for the lock, and comes back when they do. */
async function occupy(places: number, key: KeyName, from?: string): Promise<Promise<Answer>[]> {
  const waiting = await countWaiting();
  const answers = Array.from({ length: places }, () =>
    request("/notes_to_sefa?limit=1", { key, ...(from && { from }) }),
  );
  await expect.poll(countWaiting).toBe(waiting + places);
  return answers;
}

describe("requests at a time", () => {
  it.each<KeyName>(["individual", "tribal"])("of the key %s are bounded, and others go on", async (key) => {
    const places = await findPlaces(key);
    // Fewer than PostgREST has connections anywhere (docker-compose.yml).
    expect(places).toBeLessThan(5);
    const answers = await occupy(places, key);
    const refused = await Promise.all(Array.from({ length: 12 }, () => request("/general?limit=1", { key })));
    for (const { status, headers, json } of refused) {
      expect(status).toBe(429);
      expect(headers["retry-after"]).toBe("1");
      expect(json).toMatchObject({
        code: "too_many_requests_at_a_time",
        message: `More than ${places} requests are running at the same time.`,
        details: "They are counted by key.",
        hint: "Wait for a response before you send the next request.",
      });
    }
    const other = key === "individual" ? "tribal" : "individual";
    expect((await request("/general?limit=1", { key: other })).status).toBe(200);
    await client.query("rollback");
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    expect((await request("/general?limit=1", { key })).status).toBe(200);
  });

  it("of the demonstration key are counted by address, whatever headers say", async () => {
    const from = makeAddress();
    const places = await findPlaces("demo");
    const answers = await occupy(places, "demo", from);
    for (const name of ["x-client-network", "x-real-ip", "x-forwarded-for"]) {
      const headers = { [name]: "203.0.113.7" };
      const { status, json } = await request("/general?limit=1", { key: "demo", from, headers });
      expect(status).toBe(429);
      expect(json.details).toBe("They are counted by address.");
    }
    expect((await request("/general?limit=1", { key: "demo" })).status).toBe(200);
    await client.query("rollback");
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  });

  it("leave room for what needs no rows: 304", async () => {
    const etag = (await request("/general?limit=1", { key: "individual" })).headers.etag;
    const answers = await occupy(await findPlaces("individual"), "individual");
    const headers = { "if-none-match": String(etag) };
    expect((await request("/general?limit=1", { key: "individual", headers })).status).toBe(304);
    await client.query("rollback");
    await Promise.all(answers);
  });
});
