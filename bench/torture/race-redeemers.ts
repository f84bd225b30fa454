import { createTally, type Finding } from "./part.ts";
import { sendRequest } from "./send-request.ts";

export interface RaceOptions {
  appUrls: readonly string[];
  tokens: number;
  /** Requests that come together for each token. */
  redeemers: number;
  /** Makes a token that is valid for a minute. */
  issue: () => Promise<string>;
  report?: (line: string) => void;
}

const downloads = "/dissemination/report/pdf/ota";
const reportEvery = 100;

/**
 * Redeems each token many times at once, over all report services in turn: one request is redirected, and every other is
 * told that there is no such token. One that nobody could redeem, since too many came, must still work.
 */
export async function raceRedeemers({
  appUrls,
  tokens,
  redeemers,
  issue,
  report = () => {},
}: RaceOptions): Promise<Finding> {
  const statuses = createTally();
  const faults: string[] = [];
  let late = 0;
  const start = performance.now();
  const redeem = async (token: string, index: number) => {
    const wire = { method: "GET", path: `${downloads}/${token}`, headers: [] };
    const { status } = await sendRequest(appUrls[index % appUrls.length] ?? "", wire);
    statuses.add(status);
    if (![302, 404, 503].includes(status)) faults.push(`A redeemer was answered ${status}.`);
    return status === 302;
  };
  for (let number = 1; number <= tokens; number += 1) {
    const token = await issue();
    const redeemed = await Promise.all(Array.from({ length: redeemers }, (_, index) => redeem(token, index)));
    let count = redeemed.filter(Boolean).length;
    if (count === 0) {
      late += 1;
      if (await redeem(token, number)) count = 1;
    }
    if (count !== 1) faults.push(`Token ${number} was redeemed ${count} times.`);
    if (number % reportEvery === 0) report(`${number} of ${tokens} tokens`);
  }
  const seconds = (performance.now() - start) / 1000;
  const lateText = late === 0 ? "" : `; ${late} tokens only after the race`;
  return {
    figures: `${tokens.toLocaleString("en-US")} tokens × ${redeemers} redeemers over ${appUrls.length} report services, ${seconds.toFixed(0)} s: ${statuses}${lateText}`,
    faults,
  };
}
