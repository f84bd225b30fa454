import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

const project = path.resolve(import.meta.dirname, "../..");

export interface KillOptions {
  /** Of `scripts`. */
  script: string;
  args: string[];
  env: Record<string, string>;
  /** How the program calls itself in the database. */
  applicationName: string;
  /** It is killed at some moment so soon after it has reached the database. */
  withinMilliseconds: number;
}

/**
 * Runs a program, and kills it at some moment after it has reached the database; waits until the server has ended its
 * sessions.
 *
 * @param client a database on the same server
 * @returns whether it was killed before it had ended by itself
 */
export async function killAtSomeMoment(client: Client, options: KillOptions): Promise<boolean> {
  const { script, args, env, applicationName, withinMilliseconds } = options;
  const child = spawn(process.execPath, ["--import", "tsx", `scripts/${script}`, ...args], {
    cwd: project,
    env: { PATH: process.env.PATH, ...env },
    stdio: "ignore",
  });
  const ended = new Promise<boolean>((resolve) =>
    child.once("exit", (_code, signal) => resolve(signal === "SIGKILL")),
  );
  const isThere = async () => {
    const sessions =
      "select from pg_stat_activity where application_name = $1 and datname = current_database()";
    return (await client.query(sessions, [applicationName])).rowCount !== 0;
  };
  while (child.exitCode === null && !(await isThere())) await sleep(2);
  await sleep(randomInt(Math.ceil(withinMilliseconds)));
  child.kill("SIGKILL");
  const wasKilled = await ended;
  while (await isThere()) await sleep(20);
  return wasKilled;
}
