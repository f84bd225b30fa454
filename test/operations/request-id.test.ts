import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { signGatewayToken } from "../../scripts/stack/sign-gateway-token.ts";
import type { RunningStack } from "../support/run-stack.ts";
import { runSeparateStack } from "../support/separate-stack.ts";
import { send } from "../support/target.ts";

// One request id, found in the log of each part that took a hand in the three steps; and no secret in any.

let stack: RunningStack;
let client: Client;
const requestId = `walk-${randomUUID()}`;
const secrets: string[] = [];
let lines: Record<string, string>[] = [];

async function readLog(): Promise<string> {
  return await readFile(path.join(stack.directory, "stack.log"), "utf8");
}

beforeAll(async () => {
  // Kong writes its log elsewhere.
  stack = await runSeparateStack({ GATEWAY: "embedded" });
  client = new Client({ connectionString: stack.facts.database_url, application_name: "test" });
  await client.connect();
  // Every statement that is run from now on, so that the search for secrets is a hard one.
  await client.query("alter system set log_min_duration_statement = 0");
  await client.query("select pg_reload_conf()");

  const { base_url, app_url, keys, sample: reports } = stack.facts;
  const headers = { "x-request-id": requestId };
  const tribal = { value: keys.tribal };
  const asked = await send(base_url, `/general?report_id=eq.${reports.suppressed_report_id}`, {
    key: tribal,
    headers,
  });
  expect(asked.json).toHaveLength(1);
  const issued = await send(base_url, "/rpc/request_file_access", {
    method: "POST",
    key: tribal,
    headers: { ...headers, "content-type": "application/json", "content-profile": "admin_api_v1_1_0" },
    body: JSON.stringify({ report_id: reports.suppressed_report_id }),
  });
  const token = issued.json.access_uuid;
  // The browser that follows the link knows nothing of the request id before.
  const redeemed = await send(app_url, `/dissemination/report/pdf/ota/${token}`);
  expect(redeemed.status).toBe(302);
  const address = new URL(String(redeemed.headers.location));
  expect((await send(address.origin, address.pathname + address.search)).status).toBe(200);
  // What is refused, by each part.
  const again = await send(app_url, `/dissemination/report/pdf/ota/${token}`, { headers });
  expect(again.status).toBe(404);
  const missing = await send(base_url, `/general?report_id=eq.none&api_key=${keys.individual}`, { headers });
  expect(missing.status).toBe(404);
  expect(
    (
      await send(base_url, "/general", {
        key: { value: keys.individual },
        headers: { "x-request-id": keys.individual },
      })
    ).status,
  ).toBe(200);

  const stored = JSON.parse(await readFile(path.join(stack.directory, "secrets.json"), "utf8"));
  secrets.push(
    keys.individual,
    keys.tribal,
    token,
    address.search,
    address.searchParams.get("signature") ?? "",
    stored.superuserPassword,
    ...Object.values<string>(stored.rolePasswords),
    stored.jwtSecret,
    stored.storageSigningSecret,
    await signGatewayToken(stored.jwtSecret),
    ...[keys.individual, keys.tribal].map((key) => createHash("sha256").update(key).digest("hex")),
  );
  // Lines come through pipes: the last of the gateway's is that of the last request, which has an ID of its own.
  await vi.waitUntil(async () => {
    lines = (await readLog())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const last = of("gateway").at(-1);
    return lines.some(({ msg }) => msg === "a token was redeemed") && last?.request_id !== requestId;
  });
});
afterAll(async () => {
  await client?.end();
  await stack?.dispose();
});

const of = (service: string) => lines.filter((line) => line.service === service);

describe("the id of the request", () => {
  it("is in the gateway's log of both steps at the API", () => {
    const paths = of("gateway").flatMap((line) => (line.request_id === requestId ? [line.path] : []));
    expect(paths).toEqual(["/general", "/rpc/request_file_access", "/general"]);
    const keyAsId = of("gateway").at(-1);
    // In place of a key there is a new ID.
    const id = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect(keyAsId).toMatchObject({ path: "/general", status: 200, request_id: id });
  });

  it("is in PostgreSQL's log of what ran for it, without the text of what was refused", () => {
    const ofRequest = of("postgresql").filter(({ msg }) => msg?.includes(`,${requestId}:`));
    const texts = ofRequest.map(({ msg }) => msg).join("\n");
    expect(texts).toContain("request_file_access");
    expect(texts).not.toContain("report_not_found");
  });

  it("is named by the report service where the token is redeemed, whoever redeems it", () => {
    const [redemption, ...more] = of("report-service").filter(({ msg }) => msg === "a token was redeemed");
    expect(more).toEqual([]);
    expect(redemption?.requested_in).toBe(requestId);
    expect(redemption?.request_id).toMatch(/^[0-9a-f-]{36}$/);
    const statuses = of("report-service").filter(({ request_id }) => request_id === requestId);
    expect(statuses.map(({ status }) => status)).toEqual([404]);
  });

  it("is kept with the download", async () => {
    const { rows } = await client.query(
      "select request_id, redeemed_at is not null as redeemed from access.downloads",
    );
    expect(rows).toEqual([{ request_id: requestId, redeemed: true }]);
  });

  it("shows which request a connection works on, and no longer than that", async () => {
    const { rows } = await client.query(
      "select application_name from pg_stat_activity where usename = 'authenticator'",
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { application_name } of rows) expect(application_name).not.toContain(requestId);
  });

  it.each([
    ["a.sane-ID_1:2", "a.sane-ID_1:2"],
    ["x".repeat(64), "test"],
    ["two words", "test"],
    ["a;b", "test"],
    ["ä", "test"],
    ["", "test"],
    ["k".repeat(43), "test"],
  ])("is taken from a client in a sane form alone: %s", async (id, name) => {
    const { rows: keys } = await client.query(
      "select encode(key_sha256, 'hex') as hash from access.active_keys where tier = 'individual'",
    );
    const headers = JSON.stringify({ "x-request-id": id, "x-api-key-sha256": keys[0].hash });
    await client.query("begin");
    const settings = { method: "GET", path: "/", headers };
    for (const [setting, value] of Object.entries(settings)) {
      await client.query("select set_config($1, $2, true)", [`request.${setting}`, value]);
    }
    await client.query("set local role gateway");
    await client.query("select request.authorize()");
    const { rows } = await client.query("select current_setting('application_name') as name");
    await client.query("rollback");
    expect(rows).toEqual([{ name }]);
  });
});

describe("the logs of all parts", () => {
  it("are there", () => {
    for (const service of ["gateway", "postgresql", "report-service", "local-storage"]) {
      expect(of(service).length, service).toBeGreaterThan(0);
    }
    expect(of("postgresql").some(({ msg }) => msg?.includes("redeem_access_token"))).toBe(true);
  });

  it("hold no key, no hash of one, no token, no signed address, no password and no secret", async () => {
    const log = await readLog();
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(30);
      expect(log.includes(secret), secret.slice(0, 4)).toBe(false);
    }
    expect(log).not.toMatch(/signature=|eyJ[\w-]+\./);
  });
});
