import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { which } from "zx";

/** A server program, and how to run it. */
export interface Program {
  /** Its name in messages. */
  name: string;
  command: string;
  args: string[];
  /** Its complete environment. */
  env: NodeJS.ProcessEnv;
  /** Resolves to whether it is ready. */
  isReady: () => Promise<boolean>;
  /** SIGTERM if absent. */
  stopSignal?: "SIGINT" | "SIGTERM" | "SIGQUIT";
  /** Its working directory; this process's if absent. */
  directory?: string;
  /** Stays root if this process is root. */
  keepsPrivileges?: boolean;
}

/** A running program. */
interface ChildProcess {
  /** Undefined if the program could not be started. */
  pid: number | undefined;
  /** Resolves when the program is ready; rejects with its last lines if it ends first. */
  ready: Promise<void>;
  /** Resolves when the program has ended, to a line that says how, followed by its last lines of output. */
  ended: Promise<string>;
  /** Sends the program its stop signal. After the grace period, kills it and everything it has started. */
  stop: (graceMilliseconds?: number) => Promise<void>;
}

/** Operating system and processor of this machine, as npm packages name them, such as linux-x64. */
export const thisPlatform = `${process.platform}-${process.arch}`;

const lastLines = 20;
/** The user nobody and the group nogroup, as Debian numbers them. */
export const unprivilegedId = 65_534;

/** Returns whether a URL returns a 2xx status within 2 s. */
export async function isAnswering(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok ?? false;
}

/** Returns the path of the configured program, or else of the one on the PATH, if there is one. */
export async function locateProgram(
  name: string,
  variable: string,
  configured: string | undefined,
): Promise<string | undefined> {
  const found = await which(configured ?? name, { nothrow: true });
  if (found !== null) return path.resolve(found);
  if (configured === undefined) return undefined;
  throw new Error(`${variable}=${configured} is not an executable program.`);
}

/**
 * Starts a program in a process group of its own, so that Ctrl-C reaches only the stack, which then stops its programs
 * in order.
 *
 * @param log receives each line of its output
 */
export function startProgram(program: Program, log?: (line: string) => void): ChildProcess {
  const { name, env, stopSignal = "SIGTERM", directory: cwd } = program;
  const [file, args] = wrapCommand(program);
  const child = spawn(file, args, { env, cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
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
    // Programs that it started may still run, and keep its output and ports open.
    child.once("exit", () => killGroup(child.pid));
    child.once("close", (code, signal) => {
      resolve([`${name} ended with ${signal ?? `exit code ${code}`}.`, ...output].join("\n  "));
    });
  });
  const stop = async (graceMilliseconds = 2000) => {
    // `kong start` runs several programs, all in one process group.
    killGroup(child.pid, stopSignal);
    const timer = setTimeout(() => killGroup(child.pid), graceMilliseconds);
    await ended;
    clearTimeout(timer);
  };
  return { pid: child.pid, ready: waitUntilReady(program, ended), ended, stop };
}

async function waitUntilReady({ isReady }: Program, ended: Promise<string>): Promise<void> {
  const failure = ended.then((lines) => {
    throw new Error(lines);
  });
  while (!(await Promise.race([isReady(), failure]))) await sleep(50);
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals = "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The whole group has already ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Returns the command and arguments to run instead. If setpriv is installed, the program ends when this process is
 * killed. If this process is root, the program runs as nobody, because PostgreSQL refuses to run as root.
 */
export function wrapCommand({
  command,
  args,
  stopSignal = "SIGTERM",
  keepsPrivileges = false,
}: Pick<Program, "command" | "args" | "stopSignal" | "keepsPrivileges">): [string, string[]] {
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find(existsSync);
  const dropsRoot = process.getuid?.() === 0 && !keepsPrivileges;
  if (setpriv === undefined) {
    if (!dropsRoot) return [command, args];
    throw new Error(
      "As root, this command needs setpriv to drop privileges. Install setpriv (Debian: util-linux).",
    );
  }
  const options = ["--pdeathsig", stopSignal.replace("SIG", "")];
  if (dropsRoot) {
    options.push(`--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups");
    const files = [command, ...args].filter(path.isAbsolute);
    const find = ["--", "sh", "-ec", 'for file; do test -e "$file"; done', "sh", ...files];
    // If the unprivileged user cannot reach the checkout (below /root), the program keeps the one capability that
    // allows it. initdb calls access(2), which ignores a non-root user's capabilities unless no_setuid_fixup is set.
    if (spawnSync(setpriv, [...options, ...find]).status !== 0)
      options.push(
        "--securebits=+no_setuid_fixup",
        "--inh-caps=-all,+dac_override",
        "--ambient-caps=-all,+dac_override",
      );
  }
  return [setpriv, [...options, "--", command, ...args]];
}
