import { DatabaseError } from "pg";

/** Data exceptions, integrity violations, and syntax errors in values, such as those of `to_tsquery()`. */
const aboutValues = /^(22|23|42601)/;

/**
 * Removes values of rows from a PostgreSQL error and its causes, because they may be suppressed and must not reach messages or logs. Keeps
 * errors with a position, because they quote only the statement.
 */
export function hideValues(error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof DatabaseError) || !aboutValues.test(cause.code ?? "")) continue;
    if (cause.position !== undefined || cause.internalPosition !== undefined) continue;
    const { message, stack } = cause;
    // Messages of integrity violations quote only names.
    if (!cause.code?.startsWith("23")) cause.message = maskValues(message);
    if (stack !== undefined) cause.stack = stack.replace(message, () => cause.message);
    cause.detail = undefined;
    cause.where = keepPlaces(cause.where);
  }
}

const maskValues = (message: string) => message.replace(/".*"/s, "…").replace(/\b\d\S*/g, "…");

/** Keeps the lines of an error's context that name only code, lines and columns. */
const keepPlaces = (where = "") =>
  [...where.matchAll(/^(?:PL\/pgSQL function .*|SQL function .*|COPY \w+, line \d+(?:, column \w+)?)/gm)]
    .map(([place]) => place)
    .join("\n");
