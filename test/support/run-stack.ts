import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { wrapCommand } from "../../scripts/servers/run-program.ts";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";

const project = path.resolve(import.meta.dirname, "../..");
const ports = [
  "GATEWAY",
  "APP",
  "DATABASE",
  "POSTGREST",
  "POSTGREST_ADMIN",
  "GATEWAY_METRICS",
  "APP_METRICS",
];
/** Environment variables that make a stack choose free ports, so that several can run at a time. */
export const freePorts: Record<string, string> = Object.fromEntries(
  ports.map((name) => [`${name}_PORT`, "0"]),
);

/** A stack that `npm start` runs in a child process. */
export interface RunningStack {
  facts: StackFacts;
  directory: string;
  pid: number;
  /** Returns everything that it has printed so far. */
  output: () => string;
  /** Resolves to the exit code. */
  exited: Promise<number | null>;
  kill: (signal: NodeJS.Signals) => void;
  /** Stops it and removes its data. */
  dispose: () => Promise<void>;
}

/**
 * Starts a program in `scripts` and collects its output. It stops if this process is killed. Its compiled modules are among the
 * run's temporary files, where the next program finds them.
 */
export function runProgram(name: string, args: string[], env: NodeJS.ProcessEnv, cwd = project) {
  const program = [
    "--import",
    createRequire(import.meta.url).resolve("tsx"),
    path.join(project, "scripts", name),
  ];
  const [command, words] = wrapCommand({
    command: process.execPath,
    args: [...program, ...args],
    keepsPrivileges: true,
  });
  const child = spawn(command, words, {
    cwd,
    env: { TMPDIR: tmpdir(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, output: () => output, exited };
}

/** Runs a program in `scripts` whose environment is PATH, TMPDIR and `env`. */
export const runScript = (script: string, args: string[], env: Record<string, string>) =>
  runProgram(script, args, { PATH: process.env.PATH, ...env });

/**
 * Returns the part of this process's environment that stacks get: GATEWAY (set it to kong to test the installed Kong),
 * POSTGREST_BIN (another PostgREST to test), and the variables that Kong itself needs.
 */
function choosePrograms(): NodeJS.ProcessEnv {
  const names = /^(PATH|POSTGREST_BIN|GATEWAY|KONG_\w+|(LUA|RESTY|OPENRESTY)_\w+|LD_LIBRARY_PATH|HOME)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

interface RunStackOptions {
  args?: string[];
  env?: NodeJS.ProcessEnv;
  directory?: string;
}

/**
 * Runs `npm start` in its own directory. Resolves when it serves and has written its bulk files.
 *
 * @throws Error with the stack's output if it ends before it serves
 */
export async function runStack(options: RunStackOptions = {}): Promise<RunningStack> {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), "single-audit-stack-")));
  const env = { ...freePorts, STACK_DIRECTORY: directory, ...choosePrograms(), ...options.env };
  const { child, output, exited } = runProgram("start.ts", options.args ?? [], env);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", () => output().includes("The bulk files are ready.") && resolve());
    void exited.then((code) => reject(new Error(`npm start ended with exit code ${code}:\n${output()}`)));
  });
  const facts: StackFacts = JSON.parse(await readFile(path.join(directory, "stack.json"), "utf8"));
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  const dispose = async () => {
    kill("SIGINT");
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  return { facts, directory, pid: child.pid ?? 0, output, exited, kill, dispose };
}
