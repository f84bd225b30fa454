/** SQLSTATEs of a server that is shut down, or that restarts after a crash. */
const stopped = ["57P01", "57P02"];
/** The driver's messages if the connection breaks. */
const brokenOff = /^Connection terminated|is not queryable|^(read|write) E(CONNRESET|PIPE)/;
/** The operating system's codes if a disk, a quota or a limit is reached. DuckDB has only a message. */
const diskFull = /\b(ENOSPC|EDQUOT|EFBIG)\b|No space left on device/;

/** Returns the message of a failed refresh. If a disk is full or PostgreSQL was stopped, the message says what to do. */
export function explainFailure(error: unknown): string {
  const causes = [...listCauses(error)];
  const full = causes.find(({ code }) => code === "53100");
  if (full !== undefined) {
    return (
      `PostgreSQL's disk is full: ${full.message}. Nothing was published. During a refresh, the disk holds three data ` +
      "sets: the previous, the live and the new one. Free some space (docs/operations.md, Disk full), then run the refresh again."
    );
  }
  const canceled = causes.find(({ code }) => code === "57014");
  if (canceled !== undefined)
    return `A statement of the refresh was canceled: ${canceled.message}. Run the refresh again.`;
  const lost = causes.find(({ code, message }) => stopped.includes(code ?? "") || brokenOff.test(message));
  if (lost !== undefined) {
    return (
      `PostgreSQL was stopped, or the connection to it was lost: ${lost.message}. Find the reason in PostgreSQL's log. ` +
      "When PostgreSQL is running again, check which data set is live (npm run refresh -- --status), then run the refresh again."
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  return diskFull.test(message)
    ? `${message} The disk is full. Free some space (docs/operations.md, Disk full), then run the refresh again.`
    : message;
}

function* listCauses(error: unknown): Generator<Error & { code?: string }> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}
