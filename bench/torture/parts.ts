import { connect } from "../../service/connect.ts";
import { askGenerated } from "./ask-generated.ts";
import { askWorstShapes } from "./ask-worst-shapes.ts";
import { listContainers } from "./containers.ts";
import { apiRequest, appRequest } from "./generate-requests.ts";
import { killDeployments } from "./kill-deployments.ts";
import { killParts, listVictims } from "./kill-parts.ts";
import { killRefreshes } from "./kill-refreshes.ts";
import { onScratchDatabase } from "./on-scratch-database.ts";
import type { Finding, PartOptions, Target } from "./part.ts";
import { raceRedeemers } from "./race-redeemers.ts";
import { scanForLeaks } from "./scan-leaks.ts";

export interface Part {
  name: string;
  title: string;
  /** Undefined where the part is left out on this target. */
  run: (target: Target, options: PartOptions) => Promise<Finding | undefined>;
}

export const sizes = {
  long: { tokens: 1000, redeemers: 200, gateway: 20_000, app: 10_000, kills: 20 },
};

/** All parts, in the order in which they are run: what is scanned comes last. */
export const parts: readonly Part[] = [
  {
    name: "races",
    title: "redemption races over two report services, each token redeemed exactly once",
    run: async (target, { report }) => {
      const { tokens, redeemers } = sizes.long;
      const tokensOf = await openTokens(target);
      try {
        const { appUrls } = target;
        return await raceRedeemers({ appUrls, tokens, redeemers, issue: tokensOf.issue, report });
      } finally {
        await tokensOf.close();
      }
    },
  },
  {
    name: "gateway",
    title: "generated requests at the gateway, no answer of 500 or more but those that say who is away",
    run: (target, options) =>
      askGenerated(target, {
        ...options,
        name: "gateway",
        origin: target.baseUrl,
        arbitrary: apiRequest,
        requests: sizes.long.gateway,
      }),
  },
  {
    name: "app",
    title: "generated requests at the app, likewise",
    run: (target, options) =>
      askGenerated(target, {
        ...options,
        name: "app",
        origin: target.appUrls[0],
        arbitrary: appRequest,
        requests: sizes.long.app,
      }),
  },
  {
    name: "shapes",
    title: "the shapes that cost the most, many at once, beside a client with another key",
    run: askWorstShapes,
  },
  {
    name: "kills",
    title: "SIGKILL of every part in turn, under readers who check each answer; answered again within 10 s",
    run: async (target, options) => {
      const { own, project } = target;
      if (own !== undefined) return await killParts(target, listVictims(own), options);
      if (project === undefined) return undefined;
      return await killParts(target, await listContainers(project), options);
    },
  },
  {
    name: "deployments",
    title: "deployments killed at random moments",
    run: async ({ own }, { report }) =>
      own &&
      (await onScratchDatabase((client, url) => killDeployments(client, url, sizes.long.kills, report))),
  },
  {
    name: "refreshes",
    title: "refreshes killed at random moments",
    run: async ({ own }, { report }) =>
      own && (await onScratchDatabase((client, url) => killRefreshes(client, url, sizes.long.kills, report))),
  },
  {
    name: "leaks",
    title: "planted secrets and suppressed values in logs, databases and bulk files",
    run: scanForLeaks,
  },
];

export const partNames = parts.map(({ name }) => name);

/** Makes tokens as admin_api_v1_1_0.request_file_access() does, of a report that has a PDF. */
async function openTokens({ databaseUrl, leaks }: Target) {
  const client = await connect(databaseUrl, "torture");
  await client.query(
    `select set_config('request.api_key_id', id::text, false) from access.api_keys where tier = 'demo'`,
  );
  const { rows } = await client.query("select report_id from suppressed.general limit 1");
  return {
    issue: async () => {
      const issued = await client.query("select access_uuid from access.issue_access_token($1)", [
        rows[0].report_id,
      ]);
      const token = String(issued.rows[0].access_uuid);
      leaks.addSecret(token);
      return token;
    },
    close: () => client.end(),
  };
}
