import path from "node:path";
import type { Surroundings } from "../../service/surroundings.ts";
import type { FileProgress } from "./fill-staging.ts";

const terminalMilliseconds = 100;
const plainMilliseconds = 10_000;

/**
 * Shows how much of the current file has been read: on a terminal in one line that is updated, elsewhere as a line every 10
 * seconds.
 */
export function showLoadProgress(stream: Surroundings["stderr"]): {
  onProgress: FileProgress;
  /** Writes a line below the progress. */
  report: (line: string) => void;
} {
  let shownAt = performance.now();
  let isLineOpen = false;
  return {
    onProgress(file, rows, bytes) {
      const now = performance.now();
      if (now - shownAt < (stream.isTTY ? terminalMilliseconds : plainMilliseconds)) return;
      shownAt = now;
      const percent = file.size === 0 ? 100 : Math.min(100, Math.floor((100 * bytes) / file.size));
      const text = `${path.posix.basename(file.path)}: ${percent} %, ${rows} rows`;
      stream.write(stream.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
      isLineOpen = stream.isTTY === true;
    },
    report(line) {
      stream.write(isLineOpen ? `\r\u001b[K${line}\n` : `${line}\n`);
      isLineOpen = false;
    },
  };
}
