import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { target as addresses, findReport, query } from "../support/target.ts";
import { askGenerated } from "./ask-generated.ts";
import type { Finding } from "./finding.ts";
import { apiRequest, appRequest } from "./generate-requests.ts";
import { killContainers } from "./kill-containers.ts";
import { raceRedeemers } from "./race-redeemers.ts";
import { requestFileAccess } from "./readers.ts";
import { scanForLeaks } from "./scan-leaks.ts";
import { sendRequest } from "./send-request.ts";
import { openTarget, type Target } from "./target.ts";

// Without TORTURE=1, the test sends the same few requests every time, so that it does not fail at random.
const isLong = process.env.TORTURE === "1";
const seed = Number(process.env.TORTURE_SEED ?? (isLong ? Date.now() % 2 ** 29 : 1));
const project = process.env.TORTURE_PROJECT;
const timeout = isLong ? 1_800_000 : 240_000;

let target: Target;
beforeAll(async () => {
  target = await openTarget(addresses, { individual: isLong ? 40 : 2, tribal: isLong ? 20 : 1 });
});

afterAll(async () => {
  const mine = "= 'torture@example.gov' and revoked_at is null";
  await query(`select access.revoke_key(id) from access.api_keys where owner_email ${mine}`);
  await query(
    `select access.revoke_agreement(id) from access.tribal_access_agreements where contact_email ${mine}`,
  );
});

function expectNoFaults({ figures, faults }: Finding): void {
  if (isLong) console.log(figures);
  expect(faults, figures).toEqual([]);
}

it.runIf(isLong)("redirects one of 200 simultaneous requests with the same token", { timeout }, async () => {
  const reportId = await findReport(false);
  const issue = async () =>
    JSON.parse(
      (await sendRequest(target.baseUrl, requestFileAccess(target.nextKey("tribal"), reportId))).body,
    ).access_uuid;
  expectNoFaults(await raceRedeemers({ appUrls: [target.appUrl], tokens: 1000, redeemers: 200, issue }));
});

describe("generated requests", () => {
  it.each([
    ["gateway", () => target.baseUrl, apiRequest, isLong ? 20_000 : 400],
    ["app", () => target.appUrl, appRequest, isLong ? 10_000 : 300],
  ] as const)(
    "to the %s get no 5xx, except a 503 with Retry-After, and no suppressed value",
    { timeout },
    async (_, find, arbitrary, requests) => {
      const finding = await askGenerated(target, { origin: find(), arbitrary, requests, seed });
      expectNoFaults(finding);
      // At least one request succeeded, so not all of them were refused early.
      expect(finding.figures).toMatch(/× 200/);
    },
  );
});

it.runIf(isLong && project)("killed containers recover within 10 s", { timeout }, async () => {
  expectNoFaults(await killContainers(target, project ?? ""));
});

it("finds no secret in the databases and bulk files, but finds one that was planted", {
  timeout,
}, async () => {
  expectNoFaults(await scanForLeaks(target));
  await query(`create table public.planted as select '${target.nextKey("tribal")}' as note`);
  onTestFinished(async () => void (await query("drop table public.planted")));
  expect((await scanForLeaks(target)).faults.join()).toContain(`public.planted: tribal_`);
});
