import { DatabaseError } from "pg";
import type { Statement } from "./split-statements.ts";

/** A statement of a file that was refused. Its message is several lines: where, what, and what to do. */
export class SqlFileError extends Error {
  override name = "SqlFileError";
}

const advice = [
  {
    of: (file: string, { code }: DatabaseError) => code === "42703" && file.startsWith("db/api/"),
    line: "  If the column is new in db/data_set, publish a data set that has it first (npm run refresh), then deploy.",
  },
  {
    of: (_: string, { code, message }: DatabaseError) =>
      code === "2D000" || (code === "0A000" && message.startsWith("EXECUTE of transaction commands")),
    line: "  The deployment runs this file inside its own transaction: remove begin, commit, rollback and savepoint.",
  },
  {
    of: (file: string, { code }: DatabaseError) => code === "42501" && file.startsWith("db/api/api_"),
    line: "  Files of an API version run as api_owner, which may read dissemination and owns nothing but the API schemas. Put roles, policies, tables and everything else in a migration.",
  },
  {
    of: (file: string, { code }: DatabaseError) => code === "25001" && file.startsWith("db/migrations/"),
    line: "  If the migration cannot run in a transaction, say so in its first line: -- No transaction: <why>",
  },
];

/**
 * Says where in its file a statement failed: `file:line:column: message`, the line itself with a caret, PostgreSQL's
 * detail and hint. Errors that are not PostgreSQL's pass unchanged.
 */
export function describeSqlError(statement: Statement, error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { detail, hint, internalQuery } = error;
  const { text, file } = statement;
  const frame = error.where?.split("\n")[0] ?? "";
  const lines = [
    ...(detail === undefined ? [] : [`  detail: ${detail}`]),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...advice.filter(({ of }) => of(file.name, error)).map(({ line }) => line),
    ...(internalQuery === undefined || text.includes(internalQuery) ? [] : [`  query: ${internalQuery}`]),
    ...(/^(SQL statement|PL\/pgSQL function (inline_code_block|deployment\.run_as_api_owner)|$)/.test(frame)
      ? []
      : [`  at: ${frame}`]),
  ];
  return describeStatement(statement, findPosition(text, error), error.message, lines, error);
}

/**
 * An error of a statement, with its line and a caret.
 *
 * @param position in the statement, from 0
 */
function describeStatement(
  { file, offset }: Statement,
  position: number,
  message: string,
  more: string[] = [],
  cause?: unknown,
): SqlFileError {
  const before = file.sql.slice(0, offset + position);
  const line = before.split("\n").length;
  // As PostgreSQL counts them: characters, not halves of them.
  const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length;
  const lines = [
    `${file.name}:${line}:${column + 1}: ${message}`,
    `${String(line).padStart(5)} | ${file.sql.split("\n")[line - 1] ?? ""}`,
    `      | ${" ".repeat(column)}^`,
    ...more,
  ];
  return new SqlFileError(lines.join("\n"), { cause });
}

/** Where in a statement it failed; 0 is its beginning, where PostgreSQL does not say. */
function findPosition(text: string, error: DatabaseError): number {
  const { position, internalQuery, internalPosition, where = "" } = error;
  if (position !== undefined) return toIndex(text, position);
  const line = findBlockLine(text, where);
  if (internalQuery !== undefined && internalPosition !== undefined) {
    const start = text.indexOf(internalQuery, line);
    if (start >= 0) return start + toIndex(internalQuery, internalPosition);
  }
  return line;
}

/** @param position in characters, from 1, as PostgreSQL counts them */
function toIndex(text: string, position: string): number {
  return Array.from(text)
    .slice(0, Number(position) - 1)
    .join("").length;
}

/** Where the line of a DO block begins that PostgreSQL's context names. The last such frame is that of the runner. */
function findBlockLine(text: string, where: string): number {
  const frames = [...where.matchAll(/^PL\/pgSQL function inline_code_block line (\d+) /gm)];
  const line = Number(frames.at(-2)?.[1] ?? 0);
  const body = /\$\w*\$|'/.exec(text);
  if (line === 0 || body === null || !/^do\b/i.test(text)) return 0;
  const lines = text.slice(body.index).split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, body.index);
  return start + (/\S/.exec(lines[line - 1] ?? "")?.index ?? 0);
}
