import path from "node:path";
import type { Surroundings } from "../../service/surroundings.ts";
import type { FileProgress } from "./fill-staging.ts";
import type { SourceFile } from "./find-files.ts";

const barWidth = 24;
const everyMilliseconds = 100;
const plainEveryMilliseconds = 10_000;

export interface LoadProgress {
  onProgress: FileProgress;
  /** Writes a line below the finished bars. */
  report: (line: string) => void;
}

/**
 * Shows how far the file of a table has been read: rows, rows a second and the time that is left, as a bar a table on
 * a terminal, and as a line every 10 seconds elsewhere.
 */
export function showLoadProgress(stream: Surroundings["stderr"]): LoadProgress {
  const every = stream.isTTY ? everyMilliseconds : plainEveryMilliseconds;
  let current: SourceFile | undefined;
  let begun = 0;
  let shown = 0;
  let isDrawn = false;
  return {
    onProgress(file, rows, bytes) {
      const now = performance.now();
      if (file !== current) {
        current = file;
        begun = now;
        shown = stream.isTTY ? 0 : now;
      }
      const isDone = bytes >= file.size;
      if (now - shown < every && !(isDone && stream.isTTY)) return;
      shown = now;
      const text = describe(file, rows, bytes, (now - begun) / 1000);
      stream.write(stream.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
      isDrawn = stream.isTTY === true;
    },
    report(line) {
      stream.write(isDrawn ? `\n${line}\n` : `${line}\n`);
      isDrawn = false;
    },
  };
}

function describe(file: SourceFile, rows: number, bytes: number, seconds: number): string {
  const share = file.size === 0 ? 1 : Math.min(1, bytes / file.size);
  const filled = Math.round(barWidth * share);
  const bar = `${"#".repeat(filled)}${".".repeat(barWidth - filled)}`;
  const left = share === 0 ? "" : `, ${formatSeconds((seconds * (1 - share)) / share)} left`;
  const rate = Math.round(rows / Math.max(seconds, 0.001));
  return `[${bar}] ${path.posix.basename(file.path)}: ${rows} rows, ${rate} rows/s${left}`;
}

function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
