import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { childTables, columnNames } from "../support/columns.ts";
import { findReport, query, type Request, request, send, target } from "../support/target.ts";

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Makes a key and waits until the gateway knows it. */
async function issueKey(): Promise<string> {
  const [row] = await query<{ api_key: string }>(
    "select api_key from access.issue_key('individual', 'tester@example.gov', 'test')",
  );
  const key = row?.api_key ?? "";
  await expect
    .poll(async () => (await request("/general?limit=1", { key: { value: key } })).status, { timeout: 5000 })
    .toBe(200);
  return key;
}

describe("a query without a valid key", () => {
  const paths = ["/", "/general?limit=1", "/federal_awards", "/no_such_table", "/general?report_id=eq.x"];
  const badKeys: Record<string, Request & { query?: string }> = {
    "no key": {},
    "an empty key": { key: { value: "" } },
    "an unknown key": { key: { value: "unknown" } },
    "a key under another header's name": { headers: { apikey: "DEMO_KEY" } },
    "an unknown key in the query string": { query: "api_key=unknown" },
  };
  for (const path of paths) {
    for (const [name, { query: parameter, ...options }] of Object.entries(badKeys)) {
      it(`is refused with 401: ${name}, ${path}`, async () => {
        const url = parameter === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${parameter}`;
        const answer = await request(url, options);
        expect(answer.status).toBe(401);
        expect(answer.headers["www-authenticate"]).toBeTruthy();
        expect(answer.headers["content-type"]).toMatch(/^application\/json/);
        expect(answer.json.message).toBeTruthy();
      });
    }
  }

  it("is refused for each verb, before the verb is looked at", async () => {
    for (const method of ["HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
      expect((await request("/general", { method })).status, method).toBe(401);
    }
  });

  it("is refused with 401 however many come at once, each with a key of its own", async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `unknown-${index}`);
    const answers = await Promise.all(keys.map((value) => request("/general?limit=1", { key: { value } })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it("is refused when the key sent is the stored hash of a key", async () => {
    const [row] = await query<{ hash: string }>(
      "select encode(sha256(convert_to($1, 'UTF8')), 'hex') as hash",
      [target.keys.individual],
    );
    expect((await request("/general?limit=1", { key: { value: row?.hash ?? "" } })).status).toBe(401);
  });
});

describe("a key that stops being valid", () => {
  it.each([
    [
      "revoked",
      "update access.api_keys set revoked_at = now() where key_sha256 = sha256(convert_to($1, 'UTF8'))",
    ],
    [
      "expired",
      "update access.api_keys set expires_at = now() where key_sha256 = sha256(convert_to($1, 'UTF8'))",
    ],
  ])("is refused from the very next request when it is %s", async (_state, update) => {
    const key = await issueKey();
    await query(update, [key]);
    const answer = await request("/general?limit=1", { key: { value: key } });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Key");
    expect(answer.json.message).toBeTruthy();
    // And still once the gateway has heard of it.
    await wait(1000);
    const later = await request("/general?limit=1", { key: { value: key } });
    expect(later.status).toBe(401);
    expect(later.headers["www-authenticate"]).toBe("Key");
  });

  it("is refused when its agreement is revoked", async () => {
    const agreement = await query<{ id: string }>(
      "insert into access.tribal_access_agreements (organisation, contact_email) values ('Test', 'test@example.gov') returning id",
    );
    const id = agreement[0]?.id;
    await query(
      `update access.tribal_access_agreements set decision = 'approved', decided_at = now(), decided_by_name = 'n',
       decided_by_agency = 'a', decided_by_email = 'official@example.gov' where id = $1`,
      [id],
    );
    const [row] = await query<{ api_key: string }>(
      "select api_key from access.issue_key('tribal', 'tester@example.gov', 'test', key_agreement_id => $1)",
      [id],
    );
    const key = { value: row?.api_key ?? "" };
    await expect
      .poll(async () => (await request("/general?limit=1", { key })).status, { timeout: 5000 })
      .toBe(200);
    await query("update access.tribal_access_agreements set revoked_at = now() where id = $1", [id]);
    expect((await request("/general?limit=1", { key })).status).toBe(401);
  });
});

/** The embedded gateway has none. */
const hasKongDatabase = (await query("select from pg_database where datname = 'kong'")).length > 0;
if (hasKongDatabase) {
  describe("while Kong's own database is away", () => {
    const allow = (isAllowed: boolean) => query(`alter database kong with allow_connections ${isAllowed}`);
    afterEach(() => allow(true));

    it("keys that Kong has seen go on, and are counted; a new one works once it is back", async () => {
      const known = [await issueKey(), target.keys.tribal, target.keys.individual];
      const ask = (key: string) => request("/general?limit=1", { key: { value: key } });
      for (const key of known) expect((await ask(key)).status).toBe(200);
      await allow(false);
      const ended = await query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'kong'",
      );
      expect(ended).not.toHaveLength(0);
      const before = Number((await ask(known[0] ?? "")).headers["x-ratelimit-remaining-hour"]);
      const statuses = new Set<number>();
      // Longer than Kong waits between two looks at its database.
      for (let turn = 1; turn <= 20; turn += 1) {
        for (const key of known) {
          const { status, headers } = await ask(key);
          statuses.add(status);
          if (key === known[0]) expect(Number(headers["x-ratelimit-remaining-hour"])).toBe(before - turn);
        }
        await wait(200);
      }
      expect([...statuses]).toEqual([200]);
      expect((await ask("unknown")).status).toBe(500);
      const [row] = await query<{ api_key: string }>(
        "select api_key from access.issue_key('individual', 'tester@example.gov', 'test')",
      );
      const fresh = row?.api_key ?? "";
      expect((await ask(fresh)).status).toBe(500);
      await allow(true);
      await expect.poll(async () => (await ask(fresh)).status).toBe(200);
      expect((await ask("unknown")).status).toBe(401);
    });
  });
}

describe("identity", () => {
  let suppressed: string;
  beforeAll(async () => {
    suppressed = await findReport(false);
  });

  it("comes from the key in the query string as well, which goes no further", async () => {
    const answer = await request(`/general?limit=1&api_key=${target.keys.individual}&select=report_id`);
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.headers)).not.toContain(target.keys.individual);
  });

  it("is not taken from headers that a client forges", async () => {
    const [tribal] = await query<{ id: string }>(
      "select id from access.api_keys where key_sha256 = sha256(convert_to($1, 'UTF8'))",
      [target.keys.tribal],
    );
    const id = tribal?.id ?? "";
    const forged = {
      "x-consumer-custom-id": id,
      "x-consumer-id": id,
      "x-consumer-username": id,
      "x-consumer-groups": "tribal",
      "x-credential-identifier": id,
      "x-anonymous-consumer": "true",
      authorization: "Bearer None",
      "x-filter-report-id": "eq.no-such-report",
    };
    const answer = await request(`/general?report_id=eq.${suppressed}`, {
      key: "individual",
      headers: forged,
    });
    expect(answer.status).toBe(200);
    const [stub] = answer.json;
    for (const column of columnNames("general")) {
      expect(stub[column], column).toBe(
        column === "report_id" ? suppressed : column === "is_public" ? false : null,
      );
    }
    for (const table of childTables) {
      const child = await request(`/${table}?report_id=eq.${suppressed}`, {
        key: "individual",
        headers: forged,
      });
      expect(child.json, table).toEqual([]);
    }
    expect((await request("/general?limit=1", { headers: forged })).status).toBe(401);
  });

  it("cannot hide an unknown report behind a forged filter header", async () => {
    const answer = await request("/general?report_id=eq.no-such-report", {
      key: "individual",
      headers: { "x-filter-report-id": `eq.${suppressed}` },
    });
    expect(answer.status).toBe(404);
  });
});

describe("PostgREST's own port", () => {
  it.each([
    ["nothing", {}],
    ["a key", { "x-api-key": "DEMO_KEY" }],
    ["a consumer's ID", { "x-consumer-custom-id": "00000000-0000-4000-8000-000000000000" }],
    [
      "a token of another secret",
      { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiZ2F0ZXdheSJ9.c2lnbmF0dXJl" },
    ],
    ["an unsigned token", { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJyb2xlIjoiYXBpX3RyaWJhbCJ9." }],
  ])("answers 401 to %s", async (_name, headers) => {
    expect((await send(target.postgrestUrl, "/general?limit=1", { headers })).status).toBe(401);
  });
});
