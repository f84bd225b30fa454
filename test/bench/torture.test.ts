import { execFile } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { askGenerated } from "../../bench/torture/ask-generated.ts";
import { apiRequest, appRequest, type GeneratedRequest } from "../../bench/torture/generate-requests.ts";
import { type OpenedTarget, openTarget } from "../../bench/torture/open-target.ts";
import { raceRedeemers } from "../../bench/torture/race-redeemers.ts";
import { scanForLeaks } from "../../bench/torture/scan-leaks.ts";
import { query, target } from "../support/target.ts";

// npm run torture in short: always the same requests, so that a run does not fail by chance.

const seed = 1;
const report = () => {};
let opened: OpenedTarget;
const closes: (() => void)[] = [];

beforeAll(async () => {
  const { baseUrl: BASE_URL, appUrl: APP_URL, databaseUrl: DATABASE_URL } = target;
  const keyCounts = { individual: 2, tribal: 1 };
  opened = await openTarget({ BASE_URL, APP_URL, DATABASE_URL }, { report, keyCounts });
});
afterAll(() => opened.close());
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  closes.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("generated requests", () => {
  it.each([
    ["gateway", () => target.baseUrl, apiRequest, 400],
    ["app", () => target.appUrl, appRequest, 300],
  ] as const)("at the %s are answered with less than 500", async (name, findOrigin, arbitrary, requests) => {
    const origin = findOrigin();
    const { faults, figures } = await askGenerated(opened.target, {
      name,
      origin,
      arbitrary,
      requests,
      seed,
      report,
    });
    expect(faults, figures).toEqual([]);
    // They are not all refused before they reach anything.
    expect(figures).toMatch(/× 200/);
  });

  it("that are answered wrongly are shrunk to a line that has curl send the same", async () => {
    const origin = await serve((request, response) => {
      response.statusCode = request.url?.includes("'") ? 500 : 200;
      response.end();
    });
    const { faults } = await askGenerated(
      { ...opened.target, baseUrl: origin },
      { name: "app", origin, arbitrary: appRequest, requests: 2000, seed, report },
    );
    const [fault = ""] = faults;
    expect(fault).toMatch(/^500: \n {2}npm run torture -- --only app --seed -?\d+\n {2}curl /);
    const curl = fault.split("\n").at(-1) ?? "";
    expect(curl.replace(origin, "").length).toBeLessThan(100);
    const { stdout } = await promisify(execFile)("bash", ["-c", curl]);
    expect(stdout).toMatch(/^HTTP\/1\.1 500 /);
  });

  it("that are answered with a suppressed value are told", async () => {
    const [row] = await query<{ auditee_uei: string }>(
      "select auditee_uei from suppressed.general except select auditee_uei from disclosed.general limit 1",
    );
    const origin = await serve((_, response) => response.end(`[{"auditee_uei":"${row?.auditee_uei}"}]`));
    const arbitrary = fc.constant<GeneratedRequest>({
      key: "individual",
      method: "GET",
      path: "/general",
      headers: [],
    });
    const { faults } = await askGenerated(opened.target, {
      name: "x",
      origin,
      arbitrary,
      requests: 1,
      seed,
      report,
    });
    expect(faults[0]).toContain(`200: it tells the suppressed value ${row?.auditee_uei}`);
  });
});

it("a token that is redeemed twice is told", async () => {
  let count = 0;
  const origin = await serve((_, response) => {
    count += 1;
    response.statusCode = count % 5 === 1 ? 302 : 404;
    response.end();
  });
  const issue = async () => "x";
  const { faults } = await raceRedeemers({ appUrls: [origin], tokens: 2, redeemers: 10, issue });
  expect(faults).toEqual(["Token 1 was redeemed 2 times.", "Token 2 was redeemed 2 times."]);
});

describe("secrets and suppressed values", () => {
  it("are in no row of the databases and in no bulk file, wherever clients put them", async () => {
    const { faults, figures } = await scanForLeaks(opened.target);
    expect(faults, figures).toEqual([]);
  });

  it("that are in a row are told", async () => {
    const [key] = opened.target.keys.all;
    await query(`create table public.planted as select 'a note: ${key}' as note`);
    try {
      const { faults } = await scanForLeaks(opened.target);
      expect(faults.join()).toContain(`public.planted: ${key}`);
    } finally {
      await query("drop table public.planted");
    }
  });
});
