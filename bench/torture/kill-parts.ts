import { setTimeout as sleep } from "node:timers/promises";
import { listChildren } from "../process-time.ts";
import type { OwnStack } from "./own-stack.ts";
import type { Finding, PartOptions, Target } from "./part.ts";
import { type Readers, startReaders } from "./readers.ts";

/** A program of the stack that is killed, and how it is found each time. */
interface Victim {
  name: string;
  find: () => number | undefined;
  /** How long readers may be told that something is away. */
  longestMilliseconds: number;
}

const rounds = 2;
const longestRecoveryMilliseconds = 10_000;
const givesUpMilliseconds = 60_000;
/** So often must each reader be answered rightly before the stack counts as recovered. */
const steadyAnswers = 20;
/** Between two kills. */
const restMilliseconds = 1000;

/**
 * Kills each program of the stack in turn, while readers check each answer. A stack that ends for it is started again at
 * once, as systemd or Docker would.
 */
export async function killParts(target: Target, own: OwnStack, { report }: PartOptions): Promise<Finding> {
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
    for (const victim of listVictims(own)) {
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
async function killAndWait({ name, find }: Victim, readers: Readers): Promise<number> {
  const pid = find();
  if (pid === undefined) throw new Error(`${name} does not run.`);
  const killedAt = performance.now();
  process.kill(pid, "SIGKILL");
  return await readers.recovered(killedAt, steadyAnswers, givesUpMilliseconds);
}

/** What the stack's process has started, one of PostgreSQL's own processes, and the stack's process. */
function listVictims(own: OwnStack): Victim[] {
  const listParts = () =>
    listChildren(own.pid())
      .map((child) => ({ ...child, name: nameProgram(child.command) }))
      // Of tsx, which runs TypeScript: no part.
      .filter(({ name }) => name !== "esbuild");
  const names = new Set(listParts().map(({ name }) => name));
  const findPart = (name: string) => () => listParts().find((part) => part.name === name)?.pid;
  const findBackend = () => {
    const server = findPart("postgres")();
    return server && listChildren(server).find(({ command }) => /authenticator/.test(command))?.pid;
  };
  const longestMilliseconds = longestRecoveryMilliseconds;
  return [
    { name: "a session of PostgreSQL", find: findBackend, longestMilliseconds },
    ...[...names].map((name) => ({ name, find: findPart(name), longestMilliseconds })),
    // Then everything starts anew.
    { name: "the stack's own process", find: own.pid, longestMilliseconds: givesUpMilliseconds },
  ];
}

/** Such as `postgrest`; of a Node program its script. */
function nameProgram(command: string): string {
  const words = command.split(" ");
  const word = words[0]?.endsWith("node") ? words.find((each) => /\.[tj]s$/.test(each)) : words[0];
  return (word ?? command).split("/").at(-1) ?? command;
}
