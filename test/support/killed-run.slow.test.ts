import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { wrapCommand } from "../../scripts/servers/run-program.ts";
import { listProcesses } from "./list-processes.ts";
import { makeDirectory } from "./make-directory.ts";

const vitest = path.join(path.dirname(createRequire(import.meta.url).resolve("vitest")), "vitest.mjs");

/** Lists everything that a process has started, and what that has started. */
function listDescendants(of: number): { pid: number; command: string }[] {
  const processes = listProcesses();
  const find = (parent: number): typeof processes =>
    processes.filter((each) => each.parent === parent).flatMap((each) => [each, ...find(each.pid)]);
  return find(of);
}

it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "tests that end with %s leave neither processes nor files behind",
  async (signal) => {
    const directory = await makeDirectory();
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: directory };
    // In watch mode, the servers keep running after the tests.
    const args = [vitest, "watch", "test/http/names.test.ts"];
    const [command, words] = wrapCommand({ command: process.execPath, args, keepsPrivileges: true });
    const run = spawn(command, words, { env, stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void run.kill("SIGKILL"));
    let output = "";
    run.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await expect.poll(() => output, { timeout: 200_000 }).toContain("Waiting for file changes");

    const started = listDescendants(run.pid ?? 0);
    for (const program of ["postgres", "postgrest", "gateway-embedded", "report-service"])
      expect(started.map((each) => each.command).join("\n")).toContain(program);
    expect(await readdir(directory)).not.toEqual([]);
    run.kill(signal);
    const pids = new Set(started.map(({ pid }) => pid));
    await expect.poll(() => listProcesses().filter(({ pid }) => pids.has(pid))).toEqual([]);
    await expect.poll(() => readdir(directory)).toEqual([]);
  },
);
