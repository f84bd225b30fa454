import { DatabaseError } from "pg";

/** A statement of a file that PostgreSQL refused. Its message is several lines: where, what, and what to do. */
export class SqlFileError extends Error {
  override name = "SqlFileError";
}

const undefinedColumn = "42703";
const publishFirst =
  "  A column that is new in db/data_set is there once a data set with it is published: npm run refresh, then deploy.";

/**
 * Says where in a file a statement failed: `file:line:column: message`, the line itself, PostgreSQL's detail and
 * hint. Errors that are not PostgreSQL's pass unchanged.
 *
 * @param file as people know it
 */
export function describeSqlError(file: string, sql: string, error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  // Inside the body of a function, the position is that of the statement that makes or calls it.
  const where = error.position === undefined ? undefined : locate(sql, Number(error.position));
  const lines = [
    where === undefined
      ? `${file}: ${error.message}`
      : `${file}:${where.line}:${where.column}: ${error.message}`,
    ...(where === undefined
      ? []
      : [`${String(where.line).padStart(5)} | ${where.text}`, `      | ${" ".repeat(where.column - 1)}^`]),
    ...(error.detail === undefined ? [] : [`  detail: ${error.detail}`]),
    ...(error.hint === undefined ? [] : [`  hint: ${error.hint}`]),
    ...(error.code === undefinedColumn && file.startsWith("db/api/") ? [publishFirst] : []),
    ...(where !== undefined || error.where === undefined ? [] : [`  at: ${error.where.split("\n")[0]}`]),
  ];
  return new SqlFileError(lines.join("\n"), { cause: error });
}

/** @param position in characters, from 1, as PostgreSQL counts them */
function locate(sql: string, position: number): { line: number; column: number; text: string } {
  const before = Array.from(sql)
    .slice(0, position - 1)
    .join("");
  const line = before.split("\n").length;
  return {
    line,
    column: before.length - before.lastIndexOf("\n"),
    text: sql.split("\n")[line - 1] ?? "",
  };
}
