import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { OwnStack } from "./own-stack.ts";
import type { Finding, PartOptions, Target } from "./part.ts";
import { type Readers, startReaders } from "./readers.ts";

/** A part that is killed, again and again. */
export interface Victim {
  name: string;
  kill: () => Promise<void>;
  /** How long readers may be told that something is away. */
  longestMilliseconds: number;
}

const rounds = 2;
export const longestRecoveryMilliseconds = 10_000;
const givesUpMilliseconds = 60_000;
/** So often must each reader be answered rightly before the stack counts as recovered. */
const steadyAnswers = 20;
const restMilliseconds = 1000;

/** Kills each part in turn, while readers check each answer. Whatever started it starts it again. */
export async function killParts(
  target: Target,
  victims: readonly Victim[],
  { report }: PartOptions,
): Promise<Finding> {
  const readers = await startReaders(target);
  const faults: string[] = [];
  const figures: string[] = [];
  try {
    await waitUntilSteady(readers);
    for (const victim of victims) {
      let longest = 0;
      for (let round = 0; round < rounds; round += 1) {
        const milliseconds = await killAndWait(victim, readers);
        longest = Math.max(longest, milliseconds);
        if (milliseconds > victim.longestMilliseconds) {
          faults.push(
            `${victim.name}: readers were answered again after ${(milliseconds / 1000).toFixed(1)} s only.`,
          );
        }
        await sleep(restMilliseconds);
      }
      figures.push(`${victim.name} ${(longest / 1000).toFixed(1)} s`);
      report(figures.at(-1) ?? "");
    }
  } finally {
    await readers.stop();
  }
  const { right, away } = readers.counts;
  faults.push(...new Set(readers.wrong));
  return {
    figures: `${rounds} kills each, longest time until all readers were answered: ${figures.join(", ")}; ${right.toLocaleString("en-US")} right answers, ${readers.wrong.length} wrong, ${away} × away`,
    faults,
  };
}

/** @returns milliseconds until the last answer that was none */
async function killAndWait({ kill }: Victim, readers: Readers): Promise<number> {
  const killedAt = performance.now();
  await kill();
  // Long enough for each reader to meet it.
  await sleep(restMilliseconds);
  await waitUntilSteady(readers);
  return Math.max(0, readers.lastAway() - killedAt);
}

async function waitUntilSteady(readers: Readers): Promise<void> {
  const giveUpAt = performance.now() + givesUpMilliseconds;
  while (readers.countSteady() < steadyAnswers && performance.now() < giveUpAt) await sleep(50);
}

/**
 * What the stack's process has started, one of PostgreSQL's own processes, and the stack's process, which is started again
 * at once, as systemd would.
 */
export function listVictims(own: OwnStack): Victim[] {
  const names = new Set(listChildren(own.pid()).map(({ name }) => name));
  // Of tsx, which runs TypeScript: no part.
  names.delete("esbuild");
  const findChild = (name: string) => () => listChildren(own.pid()).find((child) => child.name === name)?.pid;
  const findBackend = () => {
    const server = listChildren(own.pid()).find(({ name }) => name === "postgres");
    return server && listChildren(server.pid).find(({ command }) => /authenticator/.test(command))?.pid;
  };
  const describe = (
    name: string,
    find: () => number | undefined,
    longestMilliseconds = longestRecoveryMilliseconds,
  ): Victim => ({
    name,
    longestMilliseconds,
    kill: async () => {
      const pid = find();
      if (pid === undefined) throw new Error(`${name} does not run.`);
      process.kill(pid, "SIGKILL");
    },
  });
  return [
    describe("a session of PostgreSQL", findBackend),
    ...[...names].map((name) => describe(name, findChild(name))),
    // Then everything starts anew.
    describe("the stack's own process", own.pid, givesUpMilliseconds),
  ];
}

/** The processes that a process has started. */
function listChildren(parent: number): { pid: number; name: string; command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        if (Number(/PPid:\s+(\d+)/.exec(status)?.[1]) !== parent) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return [{ pid: Number(pid), name: nameProgram(command), command }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

/** Such as `postgrest`; of a Node program its script. */
function nameProgram(command: string): string {
  const words = command.split(" ");
  const word = words[0]?.endsWith("node") ? words.find((each) => /\.[tj]s$/.test(each)) : words[0];
  return (word ?? command).split("/").at(-1) ?? command;
}
