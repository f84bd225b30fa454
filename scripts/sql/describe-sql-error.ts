import { DatabaseError } from "pg";
import type { Statement } from "./split-statements.ts";

/** A statement of a file failed. Its message has several lines: where, what, and what to do. */
export class SqlFileError extends Error {
  override name = "SqlFileError";
}

const advice: [applies: (file: string, error: DatabaseError) => boolean, line: string][] = [
  [
    (file, { code }) => code === "42703" && file.startsWith("db/api/"),
    "If the column is new in db/data_set, publish a data set that has it first (npm run refresh), then deploy.",
  ],
  [
    (_, { code, message }) =>
      code === "2D000" || (code === "0A000" && message.startsWith("EXECUTE of transaction")),
    "The deployment runs this file inside its own transaction: remove begin, commit, rollback and savepoint.",
  ],
  [
    (file, { code }) => code === "42501" && file.startsWith("db/api/api_"),
    "Files of an API version run as api_owner, which may read dissemination and owns nothing but the API schemas. Put roles, policies, tables and everything else in a migration.",
  ],
  [
    (file, { code }) => code === "25001" && file.startsWith("db/migrations/"),
    "If the migration cannot run in a transaction, say so in its first line: -- No transaction: <why>",
  ],
];

/**
 * Says where in its file a statement failed: `file:line:column: message`, the line itself with a caret, and PostgreSQL's
 * detail and hint. Errors that do not come from PostgreSQL are returned unchanged.
 */
export function describeSqlError({ text, file, offset }: Statement, error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { detail, hint, internalQuery, where = "" } = error;
  const before = file.sql.slice(0, offset + findPosition(text, error));
  const line = before.split("\n").length;
  // Characters, as PostgreSQL counts them, not UTF-16 units.
  const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length;
  // The last block is the one that runs the file (run-sql-file.ts).
  const [frame = ""] = where.replace(/\n?PL\/pgSQL function inline_code_block [^\n]*$/, "").split("\n");
  const more = [
    detail && `detail: ${detail}`,
    hint && `hint: ${hint}`,
    ...advice.map(([applies, what]) => applies(file.name, error) && what),
    internalQuery && !text.includes(internalQuery) && `query: ${internalQuery}`,
    !/^(SQL statement|PL\/pgSQL function deployment\.run_as_api_owner|$)/.test(frame) && `at: ${frame}`,
  ].flatMap((part) => (part ? [`  ${part}`] : []));
  const lines = [
    `${file.name}:${line}:${column + 1}: ${error.message}`,
    `${String(line).padStart(5)} | ${file.sql.split("\n")[line - 1] ?? ""}`,
    `      | ${" ".repeat(column)}^`,
    ...more,
  ];
  return new SqlFileError(lines.join("\n"), { cause: error });
}

/** Where in a statement it failed; 0, its beginning, if PostgreSQL does not say. */
function findPosition(text: string, { position, internalQuery, internalPosition }: DatabaseError): number {
  const toIndex = (count: string) =>
    Array.from(text)
      .slice(0, Number(count) - 1)
      .join("").length;
  if (position !== undefined) return toIndex(position);
  const start = internalQuery === undefined ? -1 : text.indexOf(internalQuery);
  if (start < 0 || internalPosition === undefined) return 0;
  return start + Number(internalPosition) - 1;
}
