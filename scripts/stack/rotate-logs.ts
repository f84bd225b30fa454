import { copyFile, stat, truncate } from "node:fs/promises";

/** Like Docker's driver `local` (docker-compose.yml), but for one older file in place of four. */
const largestBytes = 20 * 2 ** 20;
const pauseMilliseconds = 10_000;

/**
 * Looks at logs now and then, and moves what one holds to `<log>.1` when it has grown to 20 MB. It is emptied in place, as
 * its writer, which appends to it, goes on in the same file: lines written in between are lost.
 *
 * @returns how to stop
 */
export function rotateLogs(logs: readonly string[], largest = largestBytes, pause = pauseMilliseconds) {
  const timer = setInterval(() => {
    for (const log of logs) rotateLog(log, largest).catch(() => {});
  }, pause);
  timer.unref();
  return { stop: async () => clearInterval(timer) };
}

async function rotateLog(log: string, largest: number): Promise<void> {
  if ((await stat(log)).size < largest) return;
  await copyFile(log, `${log}.1`);
  await truncate(log);
}
