import { DatabaseError } from "pg";
import { hideValues } from "./hide-values.ts";

/** An SQL file, with the name that messages show. */
export interface SqlFile {
  name: string;
  sql: string;
}

/** A statement in a file failed. The message has several lines: where, what, and what to do. */
export class SqlFileError extends Error {
  override name = "SqlFileError";
  readonly file: SqlFile;

  constructor(message: string, file: SqlFile, options: ErrorOptions) {
    super(message, options);
    this.file = file;
  }
}

const advice: [applies: (file: SqlFile, error: DatabaseError) => boolean, line: string][] = [
  [
    ({ name }, { code }) => /^(42703|42P01)$/.test(code ?? "") && name.startsWith("db/api/"),
    "If the column or table is new, add it in a migration (docs/recipes.md).",
  ],
  [
    (_, { code, message }) =>
      code === "2D000" || (code === "0A000" && message.startsWith("EXECUTE of transaction")),
    "The deployment runs this file inside a transaction. Remove BEGIN, COMMIT, ROLLBACK and SAVEPOINT.",
  ],
  [
    ({ name }, { code }) => code === "42501" && name.startsWith("db/api/api_"),
    "Files of an API version run as api_owner, which may read the dissemination schema and owns only the API schemas. Use a migration for everything outside these schemas, such as roles, policies and tables.",
  ],
  [
    ({ name }, { code }) => code === "25001" && name.startsWith("db/migrations/"),
    "If the migration cannot run in a transaction, say so in its first line: -- No transaction: <why>. Such a migration may have only one statement. Move the other statements to migrations of their own.",
  ],
  [
    ({ sql }) => sql.startsWith("-- No transaction"),
    "If the statement left an invalid index, npm run db:deploy -- --plan lists it, with the statement that drops it.",
  ],
];

/**
 * Says where in its file a statement failed: `file:line:column: message`, the line with a caret, and PostgreSQL's
 * detail and hint, but no values of rows. Omits line and column if PostgreSQL gives no position. Returns other errors unchanged.
 */
export function describeSqlError(file: SqlFile, error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  hideValues(error);
  const { detail, hint, internalQuery, where = "" } = error;
  // The outermost block is the one that runs the files (run-sql-file.ts).
  const [frame = ""] = where.replace(/\n?PL\/pgSQL function inline_code_block [^\n]*$/, "").split("\n");
  const more = [
    detail && `detail: ${detail}`,
    hint && `hint: ${hint}`,
    ...advice.map(([applies, what]) => applies(file, error) && what),
    internalQuery && !file.sql.includes(internalQuery) && `query: ${internalQuery}`,
    !/^(SQL statement|PL\/pgSQL function deployment\.run_as_api_owner|$)/.test(frame) && `at: ${frame}`,
  ].flatMap((part) => (part ? [`  ${part}`] : []));
  const lines = [...describePlace(file, error), ...more];
  return new SqlFileError(lines.join("\n"), file, { cause: error });
}

function describePlace(file: SqlFile, error: DatabaseError): string[] {
  const { message, position, internalQuery = file.sql, internalPosition = position } = error;
  const start = file.sql.indexOf(internalQuery);
  if (internalPosition === undefined || start < 0) return [`${file.name}: ${message}`];
  // PostgreSQL counts characters; JavaScript counts UTF-16 units.
  const before = file.sql.slice(0, start) + [...internalQuery].slice(0, +internalPosition - 1).join("");
  const line = before.split("\n").length;
  const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length;
  return [
    `${file.name}:${line}:${column + 1}: ${message}`,
    `${String(line).padStart(5)} | ${file.sql.split("\n")[line - 1] ?? ""}`,
    `      | ${" ".repeat(column)}^`,
  ];
}
