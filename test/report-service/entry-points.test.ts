import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../bench/run-stack.ts";
import { signTarget } from "../../report-service/local-store.ts";
import { programArguments } from "../support/compile-programs.ts";
import { target } from "../support/target.ts";
import { send } from "./http.ts";
import {
  downloads,
  loggedSecrets,
  openTokens,
  pdf,
  reportId,
  serviceDatabaseUrl,
  signingSecret,
} from "./parts.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "reports-"));
  await writeFile(path.join(directory, `${reportId}.pdf`), pdf, "latin1");
});
afterAll(() => rm(directory, { recursive: true }));

/** Runs an entry point in a directory without .env, with no environment but this. */
function run(script: string, env: Record<string, string>, args: string[] = []) {
  const program = runProgram(programArguments(`scripts/${script}`), args, env, directory);
  onTestFinished(() => void program.child.kill("SIGKILL"));
  const findAddress = () => /listening at (http:[^"]+)/.exec(program.output())?.[1];
  /** The address that the program says it listens at. */
  const listening = () => vi.waitUntil(findAddress, { timeout: 30_000 });
  return { ...program, listening };
}

const storage = () => ({
  STORAGE_PORT: "0",
  STORAGE_DIRECTORY: directory,
  STORAGE_SIGNING_SECRET: signingSecret,
});
const service = (storageUrl: string) => ({
  APP_PORT: "0",
  REPORT_SERVICE_DATABASE_URL: serviceDatabaseUrl(target.databaseUrl),
  STORAGE_URL: storageUrl,
  STORAGE_SIGNING_SECRET: signingSecret,
});

describe.each([
  ["report-service.ts", "REPORT_SERVICE_DATABASE_URL", "APP_PORT", () => service("http://127.0.0.1:1")],
  ["local-storage.ts", "STORAGE_DIRECTORY", "STORAGE_PORT", storage],
])("%s", (script, required, portVariable, describeEnv) => {
  test("explains itself", async () => {
    const { exited, output } = run(script, {}, ["--help"]);
    expect([await exited, output()]).toEqual([
      0,
      expect.stringMatching(/STORAGE_SIGNING_SECRET.*Exit status/s),
    ]);
  });

  test("says in one line what is missing, or which variable moves a taken port", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const faults: [Record<string, string>, string][] = [
      [{}, `${required} is missing`],
      [
        { ...describeEnv(), [portVariable]: String(port) },
        `Port ${port} is taken. Set ${portVariable} to another`,
      ],
    ];
    if (script === "local-storage.ts")
      faults.push([{ ...storage(), STORAGE_DIRECTORY: "/nowhere" }, "/nowhere is not a directory."]);
    for (const [env, message] of faults) {
      const { exited, output } = run(script, env);
      expect([await exited, output()]).toEqual([1, expect.stringContaining(message)]);
      expect(output()).not.toContain("    at ");
    }
    other.close();
  });
});

test("together they serve a PDF, and end with status 0 on SIGINT and SIGTERM", async () => {
  const tokens = openTokens();
  onTestFinished(tokens.close);
  const store = run("local-storage.ts", storage());
  const reports = run("report-service.ts", service(await store.listening()));
  const url = await reports.listening();
  const token = await tokens.issue();
  const { origin, pathname, search } = new URL(
    String((await send(url, `${downloads}/${token}`)).headers.location),
  );
  expect((await send(origin, pathname + search)).body).toBe(pdf);
  reports.child.kill("SIGINT");
  store.child.kill("SIGTERM");
  for (const { exited, output } of [reports, store]) {
    expect(await exited).toBe(0);
    expect(output()).not.toContain(token);
    expect(output()).not.toMatch(loggedSecrets);
  }
});

test("a download in progress is finished before the end", async () => {
  const size = 64 * 1024 * 1024;
  await writeFile(path.join(directory, "2023-06-GSAFAC-0000000064.pdf"), Buffer.alloc(size, "x"));
  const store = run("local-storage.ts", storage());
  const url = await store.listening();
  const file = signTarget(signingSecret, "2023-06-GSAFAC-0000000064", 50);
  const response = await new Promise<IncomingMessage>((resolve) => get(`${url}${file}`, resolve));
  store.child.kill("SIGTERM");
  await expect.poll(() => send(url, "/").catch((error: { code: string }) => error.code)).toBe("ECONNREFUSED");
  expect((await buffer(response)).length).toBe(size);
  expect(await store.exited).toBe(0);
});
