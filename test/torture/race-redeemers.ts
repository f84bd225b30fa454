import { createTally, type Finding } from "./finding.ts";
import { sendRequest } from "./send-request.ts";

interface RaceOptions {
  appUrls: readonly string[];
  tokens: number;
  /** Simultaneous requests for each token. */
  redeemers: number;
  /** Issues a one-time token. */
  issue: () => Promise<string>;
}

/**
 * Redeems each token many times at once, spread over the report services. One request must be redirected, and the
 * others must get 404, or 503 from a busy service. If none is redirected, the token must still work.
 */
export async function raceRedeemers({ appUrls, tokens, redeemers, issue }: RaceOptions): Promise<Finding> {
  const statuses = createTally();
  const faults: string[] = [];
  const redeem = async (token: string, index: number) => {
    const path = `/dissemination/report/pdf/ota/${token}`;
    const origin = appUrls[index % appUrls.length] ?? "";
    const { status } = await sendRequest(origin, { method: "GET", path, headers: [] });
    statuses.add(status);
    if (![302, 404, 503].includes(status)) faults.push(`A request for a token got ${status}.`);
    return status === 302;
  };
  for (let number = 1; number <= tokens; number += 1) {
    const token = await issue();
    const redeemed = await Promise.all(Array.from({ length: redeemers }, (_, index) => redeem(token, index)));
    let count = redeemed.filter(Boolean).length;
    if (count === 0 && (await redeem(token, number))) count = 1;
    if (count !== 1) faults.push(`Token ${number} was redeemed ${count} times.`);
  }
  return {
    figures: `${tokens} tokens × ${redeemers} requests over ${appUrls.length} report services: ${statuses}`,
    faults,
  };
}
