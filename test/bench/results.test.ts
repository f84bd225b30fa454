import { expect, it } from "vitest";
import { compareResults, type Results } from "../../bench/results.ts";

const makeResults = (rate: number, cost: number): Results => ({
  ...{ machine: "one", versions: "", measuredAt: "2026-01-01", publicReports: 100, turns: 5 },
  figures: [
    { section: "Look-ups", arm: "gateway", quantity: "requests/s", value: rate },
    { section: "Look-ups", arm: "gateway", quantity: "p50 ms", value: cost },
  ],
});

it.each([
  ["the same figures", makeResults(100, 10), /2 figures of 2026-01-01: nothing is more than 10 % worse/],
  ["figures that are 9 % worse", makeResults(92, 10.9), /nothing is more than 10 % worse/],
  [
    "a lower rate",
    makeResults(50, 10),
    /worse:\n\n- Look-ups: gateway, requests\/s: 100 before, 50 now \(100 % worse\)$/,
  ],
  [
    "a higher cost",
    makeResults(100, 15),
    /worse:\n\n- Look-ups: gateway, p50 ms: 10 before, 15 now \(50 % worse\)$/,
  ],
  ["another machine", { ...makeResults(1, 99), machine: "other" }, /Not compared/],
  ["more reports", { ...makeResults(1, 99), publicReports: 200 }, /Not compared/],
])("npm run bench compares with %s", (_what, now, message) => {
  expect(compareResults(makeResults(100, 10), now)).toMatch(message);
});
