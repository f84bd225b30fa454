import path from "node:path";
import { fileURLToPath } from "node:url";
import { type ChildProcess, startChildProcess, waitUntilServing } from "../servers/child-process.ts";

export interface ServiceOptions {
  /** What people know it as. */
  name: string;
  /** Of the project's `scripts`. */
  script: string;
  args?: string[];
  /** What it is configured by. */
  env: Record<string, string | number | undefined>;
  /** Has no .env, which would count as well. */
  directory: string;
  /** Answers once it serves, whatever it says. */
  url: string;
  log: (line: string) => void;
}

/** What Node is given to run a script: from its source, or compiled where this program is. */
function programArguments(script: string): string[] {
  const [, self = ""] = process.argv;
  if (path.extname(self) === ".js") return [path.join(path.dirname(self), script.replace(/ts$/, "js"))];
  return ["--import", fileURLToPath(import.meta.resolve("tsx")), path.join(scripts, script)];
}

const scripts = path.resolve(import.meta.dirname, "..");

/** Starts one of the project's services in a process of its own, and waits until it answers. */
export async function startService(
  { name, script, args = [], env, directory, url, log }: ServiceOptions,
  keep: (child: ChildProcess) => void,
): Promise<void> {
  const { PATH, HOME, TMPDIR } = process.env;
  const all = { PATH, HOME, TMPDIR, TSX_TSCONFIG_PATH: path.join(scripts, "../tsconfig.json"), ...env };
  const child = startChildProcess({
    name,
    command: process.execPath,
    args: [...programArguments(script), ...args],
    env: Object.fromEntries(
      Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
    ),
    directory,
    keepsPrivileges: true,
    stopSignal: "SIGTERM",
    log,
  });
  keep(child);
  await waitUntilServing(child, () => isAnswering(url));
}

async function isAnswering(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response !== undefined;
}
