import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import { onTestFinished } from "vitest";
import { readKongYml } from "../gateway/gateways.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { queryOn } from "../support/query-on.ts";
import { runStack } from "../support/run-stack.ts";
import { makeSmallSample } from "../support/small-sample.ts";
import { startBrowser } from "./browser.ts";
import { visit } from "./visit.ts";

/** A browser, and a stack of its own whose pages it opens. */
export type Site = Awaited<ReturnType<typeof openSite>>;

/** Limit of the demonstration key: more requests than a file's tests need, but few enough for a test to use them up. */
export const plenty = 1000;

/** Starts a browser and a stack. The API version v1_1_0 has a sunset date, and the demonstration key a high limit. */
export async function openSite() {
  const config = path.join(await makeDirectory(), "kong.yml");
  const limits = await readKongYml(({ config }) => {
    config.limits.demo = { by: "network", hour: plenty, day: plenty };
  });
  await writeFile(config, limits);
  const sample = await makeSmallSample(200);
  const directory = await makeDirectory();
  // The stack comes first, because the browser changes TMPDIR while it starts.
  const [stack, browser] = await Promise.all([
    runStack({
      directory,
      args: ["--data", sample],
      env: { ENVIRONMENT: "production", CONTACT: "mailto:keys@example.gov", GATEWAY_CONFIG: config },
    }),
    startBrowser(),
  ]);
  const { facts } = stack;
  const query = <Row extends object = Record<string, string>>(sql: string, values: unknown[] = []) =>
    queryOn<Row>(facts.database_url, sql, values);
  const ask = (target: string, key = "DEMO_KEY", headers: Record<string, string> = {}) =>
    fetch(facts.base_url + target, { headers: { "x-api-key": key, ...headers } });
  await query(
    `insert into deployment.retired_versions (version, deprecated_at, sunset_at, link)
     values ('v1_1_0', '2027-01-01T00:00Z', '2027-06-30T00:00Z', 'https://example.gov/moving')`,
  );
  return {
    facts,
    /** The stack's directory. */
    directory,
    /** Closes the page after the test, which fails if the page contacted another host or logged a warning or an error. */
    open: async (target: string, options: BrowserContextOptions = {}) => {
      const url = target.startsWith("/") ? facts.app_url + target : target;
      const opened = await visit(await browser.get(), url, [new URL(url).origin, facts.base_url], options);
      onTestFinished(opened.leave);
      return opened;
    },
    ask,
    query,
    close: async () => {
      await browser.stop();
      await stack.dispose();
    },
  };
}
