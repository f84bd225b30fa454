import { setTimeout as sleep } from "node:timers/promises";
import { listBelow, listChildren } from "../process-time.ts";
import type { OwnStack } from "./own-stack.ts";
import type { Finding, PartOptions, Target } from "./part.ts";
import { type Readers, startReaders } from "./readers.ts";

/** A part that is killed, again and again. */
export interface Victim {
  name: string;
  /** @returns whether it ran */
  kill: () => Promise<boolean>;
  /** How long readers may be told that something is away. */
  longestMilliseconds: number;
}

const rounds = 2;
export const longestRecoveryMilliseconds = 10_000;
const givesUpMilliseconds = 60_000;
/** So often must each reader be answered rightly before the stack counts as recovered. */
const steadyAnswers = 20;
/** Between two kills. */
const restMilliseconds = 1000;

/** Kills each part in turn, while readers check each answer. Whatever started it starts it again. */
export async function killParts(
  target: Target,
  victims: readonly Victim[],
  { report }: PartOptions,
): Promise<Finding> {
  const { baseUrl, appUrls, databaseUrl, keys, leaks } = target;
  const readers = await startReaders({
    baseUrl,
    appUrl: appUrls[0],
    databaseUrl,
    nextKey: keys.next,
    onToken: leaks.addSecret,
  });
  const faults: string[] = [];
  const figures: string[] = [];
  try {
    await readers.recovered(performance.now(), steadyAnswers, givesUpMilliseconds);
    for (const victim of victims) {
      let longest = 0;
      for (let round = 0; round < rounds; round += 1) {
        const milliseconds = await killAndWait(victim, readers).catch((error: Error) => {
          faults.push(error.message);
          return Number.POSITIVE_INFINITY;
        });
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

/** @returns milliseconds until every reader was answered rightly again, for good */
async function killAndWait({ name, kill }: Victim, readers: Readers): Promise<number> {
  const givesUpAt = performance.now() + givesUpMilliseconds;
  while (!(await kill())) {
    if (performance.now() > givesUpAt) throw new Error(`${name} does not run.`);
    await sleep(20);
  }
  return await readers.recovered(performance.now(), steadyAnswers, givesUpMilliseconds);
}

/** @returns whether there was a process to kill */
function killProcess(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, "SIGKILL");
  } catch {
    // A session may have ended meanwhile.
    return false;
  }
}

/**
 * What the stack's process has started, processes of PostgreSQL and Kong below these, and the stack's process, which is
 * started again at once, as systemd would.
 */
export function listVictims(own: OwnStack): Victim[] {
  const listParts = () =>
    listChildren(own.pid())
      .map((child) => ({ ...child, name: nameProgram(child.command) }))
      // Of tsx, which runs TypeScript: no part.
      .filter(({ name }) => name !== "esbuild");
  const names = new Set(listParts().map(({ name }) => name));
  const findPart = (name: string) => () => listParts().find((part) => part.name === name)?.pid;
  const findInner = (command: string) => () =>
    listBelow(own.pid()).find((each) => each.command.includes(command))?.pid;
  const inner = [
    { name: "a session of PostgreSQL", find: findInner("postgres: authenticator") },
    { name: "a worker of Kong", find: findInner("nginx: worker process") },
    { name: "the master of Kong's workers", find: findInner("nginx: master process") },
  ].filter(({ find }) => find() !== undefined);
  const parts = [...names].map((name) => ({ name, find: findPart(name) }));
  const describe = (
    name: string,
    find: () => number | undefined,
    longestMilliseconds = longestRecoveryMilliseconds,
  ): Victim => ({ name, longestMilliseconds, kill: async () => killProcess(find()) });
  return [
    ...[...inner, ...parts].map(({ name, find }) => describe(name, find)),
    // Then everything starts anew.
    describe("the stack's own process", own.pid, givesUpMilliseconds),
  ];
}

/** Such as `postgrest`; of a Node program its script. */
function nameProgram(command: string): string {
  const words = command.split(" ");
  const word = words[0]?.endsWith("node") ? words.find((each) => /\.[tj]s$/.test(each)) : words[0];
  return (word ?? command).split("/").at(-1) ?? command;
}
