/** SQLSTATEs of a server that an administrator, or the crash of another process, stops. */
const stopped = ["57P01", "57P02"];
/** What the driver says when the server is gone without a word. */
const brokenOff = /^Connection terminated|is not queryable|^read ECONNRESET/;

/** What a refresh says when it fails: where PostgreSQL is short of disk space or has been stopped, that, and what to do. */
export function explainFailure(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = "", message } = cause as Error & { code?: string };
    if (code === "53100") {
      return (
        `PostgreSQL's disk is full: ${message}. Nothing has changed. A refresh needs room for two data sets beside the ` +
        "live one. Free some space (docs/operations.md, Disk full), then run it again."
      );
    }
    if (stopped.includes(code) || brokenOff.test(message)) {
      return (
        `PostgreSQL was stopped, or the connection to it broke: ${message}. Find the reason in PostgreSQL's log. ` +
        "When it runs again, see what is live with npm run refresh -- --status, then run this again."
      );
    }
  }
  return error instanceof Error ? error.message : String(error);
}
