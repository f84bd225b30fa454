import { open, readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LeakWatch } from "./leak-watch.ts";

/** What the logs of a stack have told that they must not. */
export interface LogFollower {
  /** Reads on to the end. Lines that hold a secret or a suppressed value, without repetitions, and how much was read. */
  settle: () => Promise<{ leaks: string[]; megabytes: number; files: string[] }>;
  stop: () => Promise<void>;
}

const pauseMilliseconds = 500;
const mostLeaks = 20;
const shownBytes = 400;

/** Follows all logs of a stack from their beginning, since they are rotated. */
export function followLogs(directory: string, leaks: LeakWatch): LogFollower {
  const read = new Map<string, { position: number; rest: string }>();
  const found = new Map<string, string>();
  let bytes = 0;
  let isStopped = false;
  const judgeLine = (file: string, line: string) => {
    for (const word of [...leaks.findSecrets(line), ...leaks.findSuppressed(line)]) {
      if (found.size < mostLeaks && !found.has(word))
        found.set(word, `${file}: ${word} in ${line.slice(0, shownBytes)}`);
    }
  };
  const readOn = async () => {
    for (const file of await listLogs(directory)) {
      const state = read.get(file) ?? { position: 0, rest: "" };
      const text = await readFrom(path.join(directory, file), state);
      bytes += text.length;
      const lines = (state.rest + text).split("\n");
      state.rest = lines.pop() ?? "";
      for (const line of lines) judgeLine(file, line);
      read.set(file, state);
    }
  };
  // One reading after the other, that of settle() included.
  let reading = Promise.resolve();
  const readInTurn = () => {
    reading = reading.then(readOn);
    return reading;
  };
  const following = (async () => {
    for (; !isStopped; await sleep(pauseMilliseconds)) await readInTurn();
  })();
  return {
    settle: async () => {
      // PostgreSQL and PostgREST write through a pipe of the stack's.
      await sleep(2 * pauseMilliseconds);
      await readInTurn();
      return { leaks: [...found.values()], megabytes: bytes / 1e6, files: [...read.keys()] };
    },
    stop: async () => {
      isStopped = true;
      await following;
    },
  };
}

async function listLogs(directory: string): Promise<string[]> {
  const ofKong = await readdir(path.join(directory, "kong/logs")).catch(() => []);
  return ["stack.log", ...ofKong.map((name) => `kong/logs/${name}`)];
}

/** What was written since; from the beginning again if the log was emptied. */
async function readFrom(file: string, state: { position: number; rest: string }): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    if (size < state.position) state.position = 0;
    const buffer = Buffer.alloc(size - state.position);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, state.position);
    state.position += bytesRead;
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
