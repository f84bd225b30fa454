import { execFile } from "node:child_process";
import path from "node:path";
import type { Run } from "./run-here.ts";

/** Runs a command in the project's directory until it exits, or kills it after 100 seconds. */
export function execute([command = "", ...args]: string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const cwd = path.resolve(import.meta.dirname, "../..");
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: 100_000_000, timeout: 100_000 };
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
