import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { programArguments } from "./compile-programs.ts";

const project = path.resolve(import.meta.dirname, "../..");

/** Environment in which a stack takes free ports, so that it runs beside any other. */
export const freePorts = {
  GATEWAY_PORT: "0",
  APP_PORT: "0",
  STORAGE_PORT: "0",
  DATABASE_PORT: "0",
  POSTGREST_PORT: "0",
  POSTGREST_ADMIN_PORT: "0",
  GATEWAY_METRICS_PORT: "0",
};

export interface RunningStack {
  facts: StackFacts;
  directory: string;
  pid: number;
  /** All that it has printed. */
  output: () => string;
  /** Resolves to the exit code. */
  exited: Promise<number | null>;
  kill: (signal: NodeJS.Signals) => void;
  /** Stops it and removes its data. */
  dispose: () => Promise<void>;
}

/** A program of the project's `scripts`, with its output collected. */
export function runScript(
  script: string,
  args: string[],
  env: Record<string, string>,
  program = programArguments(`scripts/${script}`),
) {
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: project,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const append = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", append);
  child.stderr.on("data", append);
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, output: () => output, exited };
}

/**
 * GATEWAY=kong runs the suites on a natively installed Kong: it, KONG_BIN and what Kong itself needs are passed on.
 * POSTGREST_BIN runs them on another PostgREST.
 */
function chosenPrograms(): Record<string, string> {
  const names = /^(POSTGREST_BIN|GATEWAY|KONG_\w+|(LUA|RESTY|OPENRESTY)_\w+|LD_LIBRARY_PATH|HOME)$/;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      names.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}

/** Runs `npm start` in a directory of its own until it serves. */
export async function runStack(
  options: { args?: string[]; env?: Record<string, string>; directory?: string; program?: string[] } = {},
): Promise<RunningStack> {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), "single-audit-stack-")));
  const env = { ...chosenPrograms(), ...freePorts, STACK_DIRECTORY: directory, ...options.env };
  const script = runScript("start.ts", options.args ?? [], env, options.program);
  const kill = (signal: NodeJS.Signals) => {
    script.child.kill(signal);
  };
  const dispose = async () => {
    kill("SIGINT");
    await script.exited;
    await rm(directory, { recursive: true, force: true });
  };
  const ready = new Promise<void>((resolve, reject) => {
    script.child.stdout.on("data", () => {
      if (script.output().includes("Ctrl-C stops it.")) resolve();
    });
    void script.exited.then((code) => reject(new Error(`npm start ended with ${code}:\n${script.output()}`)));
  });
  await ready;
  const facts: StackFacts = JSON.parse(await readFile(path.join(directory, "stack.json"), "utf8"));
  return {
    facts,
    directory,
    pid: script.child.pid ?? 0,
    output: script.output,
    exited: script.exited,
    kill,
    dispose,
  };
}
