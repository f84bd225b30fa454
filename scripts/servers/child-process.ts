import { spawn } from "node:child_process";
import { accessSync, constants as fsConstants, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

/** A program that the stack runs beside itself. */
export interface ChildProcess {
  /** Undefined when the program could not be started. */
  pid: number | undefined;
  /** Resolves when the program has ended, to a line that says how, followed by its last lines of output. */
  ended: Promise<string>;
  /** Asks the program to end, and ends it and what it has started by force after `graceMilliseconds`. */
  stop: (graceMilliseconds: number) => Promise<void>;
}

export interface ChildProcessOptions {
  /** What people know the program as. */
  name: string;
  command: string;
  args: string[];
  /** The whole of the program's environment. */
  env: Record<string, string>;
  stopSignal: "SIGINT" | "SIGTERM" | "SIGQUIT";
  /** A last line of what is said when the program has ended. */
  hint?: string;
  /** Gets each line of the program's output. */
  log?: ((line: string) => void) | undefined;
  /** Where it runs; here, if not said. */
  directory?: string;
  /** Stays root where this process is. */
  keepsPrivileges?: boolean;
}

const lastLines = 20;
/** The user nobody and the group nogroup, as Debian numbers them. */
export const unprivilegedId = 65534;

/**
 * Starts a program in a process group of its own, so that Ctrl-C reaches the stack alone, which then stops its
 * children in order. Where setpriv is installed the program also ends when the stack is killed.
 */
export function startChildProcess({
  name,
  command,
  args,
  env,
  stopSignal,
  hint,
  log,
  directory: cwd,
  keepsPrivileges = false,
}: ChildProcessOptions): ChildProcess {
  const [file, argv] = wrapCommand(command, args, { stopSignal, keepsPrivileges });
  const child = spawn(file, argv, { env, cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      log?.(line);
      output.push(line);
      if (output.length > lastLines) output.shift();
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`${name} could not be started: ${error.message}`));
    // What it has started may go on, with its output and its ports open.
    child.once("exit", () => killGroup(child.pid));
    child.once("close", (code, signal) => {
      const lines = hint === undefined ? output : [...output, hint];
      resolve([`${name} ended with ${signal ?? `exit code ${code}`}.`, ...lines].join("\n  "));
    });
  });
  return {
    pid: child.pid,
    ended,
    stop: async (graceMilliseconds) => {
      child.kill(stopSignal);
      const timer = setTimeout(() => killGroup(child.pid), graceMilliseconds);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Waits until a program serves.
 *
 * @throws Error with its last lines when it ends before that
 */
export async function waitUntilServing(
  child: ChildProcess,
  isServing: () => Promise<boolean>,
): Promise<void> {
  let ending: string | undefined;
  void child.ended.then((line) => {
    ending = line;
  });
  while (!(await isServing())) {
    if (ending !== undefined) throw new Error(ending);
    await sleep(50);
  }
}

/**
 * Waits until a program answers at a URL, with any status if `anyStatus`, else with success.
 *
 * @throws Error with its last lines if it ends first
 */
export async function waitUntilAnswering(child: ChildProcess, url: string, anyStatus = false): Promise<void> {
  await waitUntilServing(child, async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    await response?.body?.cancel();
    return response !== undefined && (anyStatus || response.ok);
  });
}

/** The variables of a file with lines such as NAME=value. */
export async function readEnvironmentFile(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8");
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // All of them have just ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * PostgreSQL refuses to run as root. As root, a program becomes nobody; where the way to it is closed to others
 * (a checkout below /root), it keeps the one capability that passes closed directories. It ends when this process does.
 *
 * @returns the command and its arguments to run in place of those given
 */
export function withoutPrivileges(command: string, args: string[]): [string, string[]] {
  return wrapCommand(command, args, { stopSignal: "SIGTERM", keepsPrivileges: false });
}

/** @param stopSignal is sent to the program when this process dies */
function wrapCommand(
  command: string,
  args: string[],
  { stopSignal, keepsPrivileges }: { stopSignal: string; keepsPrivileges: boolean },
): [string, string[]] {
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find(isExecutable);
  const dropsRoot = process.getuid?.() === 0 && !keepsPrivileges;
  if (setpriv === undefined) {
    if (dropsRoot)
      throw new Error(
        "As root, the stack needs the program setpriv (Debian: util-linux) to drop privileges.",
      );
    return [command, args];
  }
  const options = [
    "--pdeathsig",
    stopSignal.replace("SIG", ""),
    ...(dropsRoot ? [`--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups"] : []),
    ...(dropsRoot && ![command, ...args].filter(path.isAbsolute).every(isReachableByOthers)
      ? // initdb asks access(2), which looks at the real user; without the fix-up that user keeps the capability.
        [
          "--securebits=+no_setuid_fixup",
          "--inh-caps=-all,+dac_override",
          "--ambient-caps=-all,+dac_override",
        ]
      : []),
  ];
  return [setpriv, [...options, "--", command, ...args]];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, fsConstants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isReachableByOthers(file: string): boolean {
  for (let directory = path.dirname(file); ; directory = path.dirname(directory)) {
    if ((statSync(directory).mode & 0o001) === 0) return false;
    if (directory === path.dirname(directory)) return true;
  }
}
