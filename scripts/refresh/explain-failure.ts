/** SQLSTATEs of a server that is shut down, or that restarts after a crash. */
const stopped = ["57P01", "57P02"];
/** The driver's messages if the connection breaks. */
const brokenOff = /^Connection terminated|is not queryable|^read ECONNRESET/;

/** Returns the message of a failed refresh. If PostgreSQL's disk is full or PostgreSQL was stopped, the message says what to do. */
export function explainFailure(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = "", message } = cause as Error & { code?: string };
    if (code === "53100") {
      return (
        `PostgreSQL's disk is full: ${message}. Nothing was published. During a refresh, the disk holds three data ` +
        "sets: the previous, the live and the new one. Free some space (docs/operations.md, Disk full), then run the refresh again."
      );
    }
    if (stopped.includes(code) || brokenOff.test(message)) {
      return (
        `PostgreSQL was stopped, or the connection to it was lost: ${message}. Find the reason in PostgreSQL's log. ` +
        "When PostgreSQL is running again, check which data set is live (npm run refresh -- --status), then run the refresh again."
      );
    }
  }
  return error instanceof Error ? error.message : String(error);
}
