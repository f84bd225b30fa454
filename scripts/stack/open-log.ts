import { rename } from "node:fs/promises";
import { pino } from "pino";
import type { PartContext } from "./parts.ts";

/**
 * Opens the log of all parts. The previous log becomes `<file>.1`, at each start and when the log is full. If the disk is full, only
 * log lines are lost.
 *
 * @param maxBytes when the log is full
 */
export async function openLog(file: string, maxBytes = 50 << 20): Promise<PartContext["log"]> {
  const moveAway = () => rename(file, `${file}.1`).catch(() => {});
  await moveAway();
  const destination = pino.destination({ dest: file, mode: 0o600, maxLength: 1 << 20 });
  destination.on("error", () => {});
  let written = 0;
  destination.on("write", (bytes) => {
    written += bytes;
    if (written < maxBytes) return;
    written = 0;
    void moveAway().then(() => destination.reopen());
  });
  const logger = pino(destination);
  return (service, line) => {
    // The services log JSON, except for what Node prints when it crashes.
    if (line.startsWith("{")) destination.write(`{"service":"${service}",${line.slice(1)}\n`);
    else logger.info({ service }, line);
  };
}
