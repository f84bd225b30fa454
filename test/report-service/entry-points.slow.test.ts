import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../support/run-stack.ts";
import { target } from "../support/target.ts";
import { send } from "./http.ts";
import { downloads, loggedSecrets, openTokens, serviceDatabaseUrl, useDirectory } from "./parts.ts";

const largeReport = "2023-06-GSAFAC-0000000064";
const size = 64 * 1024 * 1024;
const tokens = openTokens();
const inDirectory = useDirectory();
let env: Record<string, string>;
beforeAll(async () => {
  await writeFile(inDirectory(`${largeReport}.pdf`), Buffer.alloc(size, "x"));
  const database = serviceDatabaseUrl(target.databaseUrl);
  env = { APP_PORT: "0", REPORT_SERVICE_DATABASE_URL: database, REPORTS_DIRECTORY: inDirectory() };
});
afterAll(tokens.close);

/** Runs the report service with only this environment, in a directory that has no .env file. */
function run(environment: Record<string, string>, script = "report-service.ts", ...options: string[]) {
  const program = runProgram(script, options, environment, inDirectory());
  onTestFinished(() => void program.child.kill("SIGKILL"));
  const findAddress = () => /listening at (http:[^"]+)/.exec(program.output())?.[1];
  /** Waits for the URL that the program logs once it is listening. */
  const listening = () => vi.waitUntil(findAddress, { timeout: 60_000 });
  return { ...program, listening };
}

test("names the variable to set if its port is taken, without a stack trace", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const { exited, output } = run({ ...env, APP_PORT: String(port) });
  expect(await exited).toBe(1);
  expect(output()).toContain(`Port ${port} is taken. Set APP_PORT to another`);
  expect(output()).not.toContain("    at ");
  other.close();
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "finishes the download in progress on %s, then exits with status 0",
  async (signal) => {
    const { child, exited, output, listening } = run(env);
    const url = await listening();
    const token = await tokens.issue(largeReport);
    const { headers } = await send(url, `${downloads}/${token}`);
    const address = new URL(String(headers.location), url);
    const response = await new Promise<IncomingMessage>((resolve) => get(address, resolve));
    child.kill(signal);
    await expect.poll(() => send(url, "/").catch(({ code }) => code)).toBe("ECONNREFUSED");
    expect((await buffer(response)).length).toBe(size);
    expect(await exited).toBe(0);
    expect(output()).not.toContain(token);
    expect(output()).not.toMatch(loggedSecrets);
  },
);

const pages = { API_URL: "https://api.example.gov" };
test("--tokens-only serves no pages, and scripts/site.ts serves nothing else", async () => {
  const reports = run({ ...env, ...pages }, "report-service.ts", "--tokens-only");
  const database = serviceDatabaseUrl(target.databaseUrl, undefined, "site");
  const site = run({ ...pages, APP_PORT: "0", SITE_DATABASE_URL: database }, "site.ts");
  const [reportsUrl, siteUrl] = [await reports.listening(), await site.listening()];
  const token = await tokens.issue(largeReport);
  const answers = async (url = "") => [
    (await send(url, "/reference")).status,
    (await send(url, `${downloads}/${token}`)).status,
  ];
  expect(await answers(siteUrl)).toEqual([200, 404]);
  expect(await answers(reportsUrl)).toEqual([404, 302]);
});

test("the site says which variable to set if its database is missing", async () => {
  const { exited, output } = run(pages, "site.ts");
  expect(await exited).toBe(1);
  expect(output()).toContain("SITE_DATABASE_URL is missing: it, or PGHOST, names the database.");
});
