import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContextOptions } from "playwright-core";
import type { StackFacts } from "../../../scripts/stack/start-stack.ts";
import { connect } from "../../../service/connect.ts";
import { runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { startBrowser } from "./browser.ts";
import { type Visit, visit } from "./visit.ts";

/** The pages as people meet them: in a browser, on a stack of their own, whose limits may be moved. */
export interface Site {
  facts: StackFacts;
  /** The stack's. */
  directory: string;
  open: (target: string, options?: BrowserContextOptions) => Promise<Visit>;
  /** Starts the browser again if it has ended by itself. Resolves to whether it had. */
  restartEndedBrowser: () => Promise<boolean>;
  ask: (target: string, key?: string, headers?: Record<string, string>) => Promise<Response>;
  query: <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;
  /** Sets the demonstration key's limit, and waits until the gateway has heard of it. */
  limitDemonstration: (requests: number) => Promise<void>;
  close: () => Promise<void>;
}

/** Opens a site whose oldest version has an announced end, and whose demonstration key is hardly limited. */
export async function openSite(): Promise<Site> {
  const sample = await makeSmallSample(200);
  const [browser, stack] = await Promise.all([
    startBrowser(),
    runStack({
      args: ["--data", sample.directory],
      env: { ENVIRONMENT: "production", CONTACT: "mailto:keys@example.gov" },
    }),
  ]);
  const { facts, directory } = stack;
  const query: Site["query"] = async <Row extends object>(sql: string, values: unknown[] = []) => {
    const client = await connect(facts.database_url, "test");
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  const ask: Site["ask"] = (target, key = "DEMO_KEY", headers = {}) =>
    fetch(facts.base_url + target, { headers: { "x-api-key": key, ...headers } });
  const limitDemonstration: Site["limitDemonstration"] = async (requests) => {
    await query("update access.tiers set requests_per_hour = $1, requests_per_day = $1 where name = 'demo'", [
      requests,
    ]);
    for (const giveUpAt = Date.now() + 10_000; ; await sleep(100)) {
      const limit = (await ask("/general?limit=0")).headers.get("x-ratelimit-limit-hour");
      if (limit === String(requests)) return;
      if (Date.now() > giveUpAt) throw new Error(`The gateway still allows ${limit} requests an hour.`);
    }
  };
  await query(
    `insert into deployment.retired_versions (version, deprecated_at, sunset_at, link)
     values ('v1_1_0', '2027-01-01T00:00Z', '2027-06-30T00:00Z', 'https://example.gov/moving')`,
  );
  await limitDemonstration(100_000);
  return {
    facts,
    directory,
    open: (target, options = {}) =>
      visit(
        browser.get(),
        target.startsWith("/") ? facts.app_url + target : target,
        [facts.app_url, facts.base_url],
        options,
      ),
    restartEndedBrowser: browser.restartEnded,
    ask,
    query,
    limitDemonstration,
    close: async () => {
      await browser.stop();
      await stack.dispose();
      await sample.remove();
    },
  };
}
