import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { compareResults, describeLosses } from "../../bench/compare-results.ts";
import type { Results } from "../../bench/write-results.ts";

const read = async (): Promise<Results> =>
  JSON.parse(await readFile(path.join(import.meta.dirname, "../../bench/results.json"), "utf8"));

it("npm run bench names what has lost more than 15 %, and nothing else", async () => {
  const [before, now] = [await read(), await read()];
  expect(describeLosses(compareResults(before, now))).toMatch(
    /^\d\d+ figures .*: none is more than 15 % worse\.$/,
  );

  const [slow = "", fast = ""] = Object.keys(now.tokenPairsPerSecond);
  now.tokenPairsPerSecond[slow] = 0.8 * (before.tokenPairsPerSecond[slow] ?? 0);
  now.tokenPairsPerSecond[fast] = 0.9 * (before.tokenPairsPerSecond[fast] ?? 0);
  const page = now.pages.filtered[0]?.arms.ours;
  if (page !== undefined) page.cpu.postgres *= 2;
  const names = compareResults(before, now).losses.map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    "audit_year=eq.2022, common design to ours",
    "audit_year=eq.2022, ours: ms of PostgreSQL",
    `tokens a second, ${slow} clients`,
  ]);

  // Another machine is not slower for what it is, but for what it takes longer beside something else.
  now.machine = "another";
  expect(compareResults(before, now).losses.map(({ name }) => name)).toEqual([
    "audit_year=eq.2022, common design to ours",
  ]);

  // Of more rows only look-ups take as long as before.
  now.publicReports *= 2;
  const [first, second = ""] = Object.keys(now.lookUps.arms);
  const arm = now.lookUps.arms[second];
  if (arm !== undefined) arm.perSecond.median /= 2;
  const { losses, caveat } = compareResults(before, now);
  expect([losses.map(({ name }) => name), caveat]).toEqual([
    [`look-ups, ${second} to ${first}`],
    "another amount of rows: ratios of look-ups alone",
  ]);
});
