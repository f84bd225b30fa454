import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect } from "../../shared/connect.ts";
import type { RunningStack } from "../support/run-stack.ts";
import { runSeparateStack } from "../support/small-sample.ts";
import { type Request, send } from "../support/target.ts";

// One request ID appears in the logs of all parts that handle a download, and no log contains a secret. Also: what
// clients see while the database is unreachable.

const requestId = `walk-${randomUUID()}`;
const headers = { "x-request-id": requestId };
let stack: RunningStack;
let client: Client;
let lines: Record<string, string>[] = [];
let secrets: string[];

const ask = (target: string, key: "individual" | "tribal", options: Request = {}) =>
  send(stack.facts.base_url, target, { key: { value: stack.facts.keys[key] }, ...options });
const of = (service: string) => lines.filter((line) => line.service === service);

beforeAll(async () => {
  // Kong does not write its log to stack.log.
  stack = await runSeparateStack({ GATEWAY: "embedded" });
  client = await connect(stack.facts.database_url, "test");
  await client.query("alter system set log_min_duration_statement = 0");
  await client.query("select pg_reload_conf()");

  const report_id = stack.facts.sample.suppressed_report_id;
  expect((await ask(`/general?report_id=eq.${report_id}`, "tribal", { headers })).json).toHaveLength(1);
  const issued = await ask("/rpc/request_file_access", "tribal", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "content-profile": "admin_api_v1_1_0" },
    body: JSON.stringify({ report_id }),
  });
  const download = `/dissemination/report/pdf/ota/${issued.json.access_uuid}`;
  // The browser that follows the link does not know the request ID.
  const redeemed = await send(stack.facts.app_url, download);
  const address = new URL(String(redeemed.headers.location), stack.facts.app_url);
  expect((await send(address.origin, address.pathname + address.search)).status).toBe(200);
  expect((await ask("/general?report_id=eq.none", "individual", { headers })).status).toBe(404);
  const keyAsId = { "x-request-id": stack.facts.keys.individual };
  expect((await ask("/general", "individual", { headers: keyAsId })).status).toBe(200);
  secrets = [...Object.values(stack.facts.keys), issued.json.access_uuid, address.search];
  // Log lines arrive late, through pipes. The gateway's last line is the last request's, which has a different ID.
  await vi.waitUntil(
    async () => {
      const log = await readFile(path.join(stack.directory, "stack.log"), "utf8");
      lines = [...log.matchAll(/^.+$/gm)].map(([line]) => JSON.parse(line));
      const last = of("gateway").at(-1);
      return lines.some(({ msg }) => msg === "a token was redeemed") && last?.request_id !== requestId;
    },
    { timeout: 60_000 },
  );
});
afterAll(async () => {
  await client?.end().catch(() => {});
  await stack?.dispose();
});

describe("the request ID", () => {
  it("is in the gateway's log, unless it could be a key", () => {
    const paths = of("gateway").flatMap((line) => (line.request_id === requestId ? [line.path] : []));
    expect(paths).toEqual(["/general", "/rpc/request_file_access", "/general"]);
    const id = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect(of("gateway").at(-1)).toMatchObject({ path: "/general", status: 200, request_id: id });
  });

  it("is in PostgreSQL's log of the statements that ran for it, which has no errors of refused requests", () => {
    const ofRequest = of("postgresql").filter(({ msg }) => msg?.includes(`,${requestId}:`));
    const texts = ofRequest.map(({ msg }) => msg).join("\n");
    expect(texts).toContain("request_file_access");
    expect(texts).not.toContain("report_not_found");
  });

  it("is in the report service's log when the token is redeemed, and is stored with the download", async () => {
    const redemptions = of("report-service").filter(({ msg }) => msg === "a token was redeemed");
    const own = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(redemptions).toMatchObject([{ requested_in: requestId, request_id: own }]);
    const { rows } = await client.query(
      "select request_id, redeemed_at is not null as redeemed from access.downloads",
    );
    expect(rows).toEqual([{ request_id: requestId, redeemed: true }]);
  });

  it("is the application_name of a connection only while the request runs", async () => {
    const { rows } = await client.query(
      "select application_name from pg_stat_activity where usename = 'authenticator'",
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { application_name } of rows) expect(application_name).not.toContain(requestId);
  });
});

it("no log contains a key, a token or a signed URL", () => {
  for (const service of ["gateway", "postgresql", "report-service"])
    expect(of(service).length, service).toBeGreaterThan(0);
  expect(of("postgresql").some(({ msg }) => msg?.includes("redeem_access_token"))).toBe(true);
  const log = JSON.stringify(lines);
  // DEMO_KEY is public.
  for (const secret of secrets.filter((it) => it !== "DEMO_KEY")) expect(log).not.toContain(secret);
  expect(log).not.toMatch(/signature=|eyJ[\w-]+\./);
});

it("while the database is unreachable, clients learn when to retry, but not the database's address", async () => {
  const { hostname, port } = new URL(stack.facts.database_url);
  // Simulates a crash: the server ends all connections, and accepts none for a moment.
  const { rows } = await client.query("select pid from pg_stat_activity where backend_type = 'checkpointer'");
  process.kill(rows[0].pid, "SIGKILL");
  const seen = new Set<string>();
  const isBack = async () => {
    const { status, headers: answered, json, text } = await ask("/federal_awards?limit=1", "tribal");
    if (status === 200) return [...seen].some((line) => line.startsWith("503"));
    seen.add(`${status} ${answered["retry-after"]}`);
    expect(text).not.toContain(port);
    expect(text).not.toContain(hostname);
    expect(json).toMatchObject({
      code: "database_unavailable",
      details: null,
      hint: "Send the request again in half a minute.",
      message: "The database cannot be reached.",
    });
    return false;
  };
  await vi.waitUntil(isBack, { timeout: 60_000, interval: 1 });
  // If the server ends during a request, PostgREST 12 answers 400. Its first 503 looks like that for a request that takes too
  // much disk space, which must not be repeated. The gateway reads the body after it sends the headers.
  for (const line of seen) expect(line).toMatch(/^(503 [1-9]\d*|(503|400) undefined)$/);
});
