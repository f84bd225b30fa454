const FIRST_AFTER = 2_000;
const BAR = 30;
const TERMINAL_EVERY = 100;
const LINE_EVERY = 5_000;

export type Progress = { update: (done: number, total: number) => void; end: () => void };

/**
 * Shows how far a task is, once it has taken two seconds: a bar on a terminal, a line every five seconds
 * elsewhere. `end` removes the bar.
 */
export function showProgress(what: string, stream: NodeJS.WriteStream = process.stderr): Progress {
  const every = stream.isTTY ? TERMINAL_EVERY : LINE_EVERY;
  let next = performance.now() + FIRST_AFTER;
  let isDrawn = false;
  return {
    update(done, total) {
      const now = performance.now();
      if (now < next) return;
      next = now + every;
      const text = `${what}: ${done} of ${total}`;
      if (!stream.isTTY) {
        stream.write(`${text}\n`);
        return;
      }
      const filled = Math.round((BAR * done) / Math.max(total, 1));
      stream.write(`\r\u001b[K[${"#".repeat(filled)}${".".repeat(BAR - filled)}] ${text}`);
      isDrawn = true;
    },
    end() {
      if (isDrawn) stream.write("\r\u001b[K");
    },
  };
}
