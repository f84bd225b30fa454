import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContextOptions } from "playwright-core";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { connect } from "../../service/connect.ts";
import { gatewayConfigFile } from "../../service/read-rate-limits.ts";
import { listChildren } from "../support/list-processes.ts";
import { runStack } from "../support/run-stack.ts";
import { makeSmallSample } from "../support/small-sample.ts";
import { startBrowser } from "./browser.ts";
import { type Visit, visit } from "./visit.ts";

/** The pages as people meet them: in a browser, on a stack of their own. */
export interface Site {
  facts: StackFacts;
  /** The stack's. */
  directory: string;
  open: (target: string, options?: BrowserContextOptions) => Promise<Visit>;
  ask: (target: string, key?: string, headers?: Record<string, string>) => Promise<Response>;
  query: <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;
  /** Edits the demonstration key's limits in kong.yml and restarts the gateway, whose counters start at zero. */
  limitDemonstration: (requests: number) => Promise<void>;
  close: () => Promise<void>;
}

/** More requests than a test sends. */
export const plenty = 100_000;

/** Opens a site whose oldest version has an announced end, and whose demonstration key is hardly limited. */
export async function openSite(): Promise<Site> {
  const sample = await makeSmallSample(200);
  const configDirectory = await mkdtemp(path.join(tmpdir(), "single-audit-site-"));
  const config = path.join(configDirectory, "kong.yml");
  const text = await readFile(gatewayConfigFile(), "utf8");
  const writeConfig = (requests: number) =>
    writeFile(config, text.replace(/^( +hour: )\d+(\n +day: )\d+$/m, `$1${requests}$2${requests}`));
  await writeConfig(plenty);
  const [browser, stack] = await Promise.all([
    startBrowser(),
    runStack({
      args: ["--data", sample.directory],
      env: {
        ENVIRONMENT: "production",
        CONTACT: "mailto:keys@example.gov",
        GATEWAY_CONFIG: config,
      },
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
    await writeConfig(requests);
    const gateway = listChildren(stack.pid).find(({ command }) =>
      /gateway-embedded\.|start\.sh/.test(command),
    );
    if (gateway === undefined) throw new Error("No process of the stack is its gateway.");
    process.kill(gateway.pid, "SIGKILL");
    for (const giveUpAt = Date.now() + 20_000; ; await sleep(100)) {
      const answer = await ask("/general?limit=0").catch(() => undefined);
      if (answer?.headers.get("x-ratelimit-limit-hour") === String(requests)) return;
      if (Date.now() > giveUpAt) throw new Error(`The gateway does not allow ${requests} requests an hour.`);
    }
  };
  await query(
    `insert into deployment.retired_versions (version, deprecated_at, sunset_at, link)
     values ('v1_1_0', '2027-01-01T00:00Z', '2027-06-30T00:00Z', 'https://example.gov/moving')`,
  );
  return {
    facts,
    directory,
    open: async (target, options = {}) =>
      visit(
        await browser.get(),
        target.startsWith("/") ? facts.app_url + target : target,
        [facts.app_url, facts.base_url],
        options,
      ),
    ask,
    query,
    limitDemonstration,
    close: async () => {
      await browser.stop();
      await stack.dispose();
      await sample.remove();
      await rm(configDirectory, { recursive: true });
    },
  };
}
