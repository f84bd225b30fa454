import { DatabaseError } from "pg";

/** The command was given wrongly. */
export class UsageError extends Error {
  override name = "UsageError";
}

/**
 * One line for people: what went wrong and what to do. The detail of a database error is left out, since it may
 * hold a whole row, the hash of a key included.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof DatabaseError)) return inOneLine(error.message);
  return inOneLine(
    [error.message, hintsByCode.get(error.code ?? "") ?? error.hint].filter(Boolean).join(" "),
  );
}

const notDeployed = "Is this the right database, and is it deployed (npm run db:deploy)?";

/** What the database itself does not say, by SQLSTATE. */
const hintsByCode = new Map([
  ["3F000", notDeployed],
  ["42P01", notDeployed],
  ["42883", notDeployed],
  ["42501", "Connect as a member of key_operator, or as who deploys (docs/keys.md)."],
]);

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
