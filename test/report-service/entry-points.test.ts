import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { signTarget } from "../../report-service/local-store.ts";
import { programArguments } from "../support/compile-programs.ts";
import { openTokens, serviceDatabaseUrl } from "./database.ts";
import { send } from "./http.ts";
import { downloads, pdf, reportId, signingSecret } from "./parts.ts";

const running: ChildProcess[] = [];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "reports-"));
  await writeFile(path.join(directory, `${reportId}.pdf`), pdf, "latin1");
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rm(directory, { recursive: true }));

interface Program {
  child: ChildProcess;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Resolves to the address that it says it listens on. */
  listening: Promise<string>;
}

/** Runs an entry point in a directory without .env, with no environment but this. */
function run(script: string, env: Record<string, string>, args: string[] = []): Program {
  const argv = [...programArguments(`scripts/${script}`), ...args];
  const child = spawn(process.execPath, argv, { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  const output = { stdout: "", stderr: "" };
  const listening = new Promise<string>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output.stdout += chunk.toString();
      const url = /listening at (http:[^"]+)/.exec(output.stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = once(child, "close").then(([code]: (number | null)[]) => ({ code: code ?? null, ...output }));
  return { child, ended, listening };
}

const storage = () => ({
  STORAGE_PORT: "0",
  STORAGE_DIRECTORY: directory,
  STORAGE_SIGNING_SECRET: signingSecret,
});
const service = (storageUrl: string) => ({
  APP_PORT: "0",
  REPORT_SERVICE_DATABASE_URL: serviceDatabaseUrl(),
  STORAGE_URL: storageUrl,
  STORAGE_SIGNING_SECRET: signingSecret,
});

describe.each(["report-service.ts", "local-storage.ts"])("%s", (script) => {
  test("explains itself", async () => {
    const { code, stdout } = await run(script, {}, ["--help"]).ended;
    expect(code).toBe(0);
    expect(stdout).toContain("STORAGE_SIGNING_SECRET");
    expect(stdout).toContain("Exit status");
  });

  test("names what is missing", async () => {
    const { code, stdout, stderr } = await run(script, {}).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /: (REPORT_SERVICE_DATABASE_URL|STORAGE_DIRECTORY) is missing.* Set it in the environment or in \.env\.\n/,
    );
    expect(stderr).not.toContain("    at ");
  });

  test("names the variable that moves a taken port", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const variable = script === "report-service.ts" ? "APP_PORT" : "STORAGE_PORT";
    const env = script === "report-service.ts" ? service("http://127.0.0.1:1") : storage();
    const { code, stderr } = await run(script, { ...env, [variable]: String(port) }).ended;
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(
      `Port ${port} is taken. Set ${variable} to another port, or to 0 for any free one.\n`,
    );
    expect(stderr).not.toContain("    at ");
  });
});

test("local-storage.ts refuses a directory that is not there", async () => {
  const { code, stderr } = await run("local-storage.ts", { ...storage(), STORAGE_DIRECTORY: "/nowhere" })
    .ended;
  expect(code).toBe(1);
  expect(stderr).toContain("/nowhere is not a directory. Set STORAGE_DIRECTORY");
});

test("together they serve a PDF, and end with status 0 on SIGINT and SIGTERM", async () => {
  const tokens = await openTokens();
  try {
    const store = run("local-storage.ts", storage());
    const reports = run("report-service.ts", service(await store.listening));
    const token = await tokens.issue(reportId);
    const url = await reports.listening;
    const { status, headers } = await send(url, `${downloads}/${token}`);
    expect(status).toBe(302);
    const { origin, pathname, search } = new URL(String(headers.location));
    expect((await send(origin, pathname + search)).body).toBe(pdf);
    expect((await send(url, "/readyz")).status).toBe(200);
    reports.child.kill("SIGINT");
    store.child.kill("SIGTERM");
    const ends = await Promise.all([reports.ended, store.ended]);
    for (const { code, stdout, stderr } of ends) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).not.toContain(token);
      expect(stdout).not.toMatch(/signature|0123456789abcdef/);
    }
  } finally {
    await tokens.close();
  }
});

test("a download under way is finished before the end", async () => {
  const size = 64 * 1024 * 1024;
  await writeFile(path.join(directory, "2023-06-GSAFAC-0000000064.pdf"), Buffer.alloc(size, "x"));
  const store = run("local-storage.ts", storage());
  const url = await store.listening;
  const target = signTarget(signingSecret, "2023-06-GSAFAC-0000000064", 50);
  const response = await new Promise<IncomingMessage>((resolve) => get(`${url}${target}`, resolve));
  store.child.kill("SIGTERM");
  await expect.poll(() => send(url, "/").catch((error: { code: string }) => error.code)).toBe("ECONNREFUSED");
  let received = 0;
  for await (const chunk of response) received += (chunk as Buffer).length;
  expect(received).toBe(size);
  expect((await store.ended).code).toBe(0);
});
