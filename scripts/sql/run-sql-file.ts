import { type ClientBase, escapeLiteral } from "pg";
import { describeSqlError, type SqlFile } from "./describe-sql-error.ts";

/**
 * Runs SQL files inside the caller's transaction, in one round trip, because requests wait meanwhile. PostgreSQL refuses
 * statements in them that would end the transaction or cannot be part of one.
 *
 * @param run how PL/pgSQL runs the text of a file: `execute`, or `perform` and the name of a function
 * @throws SqlFileError that names the file and, if PostgreSQL reports them, line and column
 */
export async function runSqlFiles(client: ClientBase, files: SqlFile[], run = "execute"): Promise<void> {
  // The files are not in the block's text, which PostgreSQL would search for the body of a function with an error.
  const texts = escapeLiteral(JSON.stringify(files.map(({ sql }) => sql)));
  await client.query(`select set_config('deployment.files', ${texts}, true)`);
  await client.query(writeBlock(files, run)).catch((error: unknown) => {
    const file = findFailedFile(files, error);
    throw file === undefined ? error : describeSqlError(file, error);
  });
}

/** The lines of the block before the first file's. Each file has one line, because an error names the line of the block. */
const declarations = [
  "do $run$ declare",
  "files constant text[] := array(select json_array_elements_text(current_setting('deployment.files')::json));",
  "runner constant name := current_user;",
  "begin",
];

// Otherwise, what the files create would belong to the other role.
const refuseOtherRole =
  "if current_user <> runner then raise 'the file leaves the role changed from % to %', runner, current_user; end if;";

function writeBlock(files: SqlFile[], run: string): string {
  const calls = files.map((_, index) => `${run} (files[${index + 1}]); ${refuseOtherRole}`);
  return [...declarations, ...calls, "end $run$"].join("\n");
}

/** Finds the file whose line of the block is in the error's context. Files may contain blocks, so the outermost one counts. */
function findFailedFile(files: SqlFile[], error: unknown): SqlFile | undefined {
  const { where = "" } = error as { where?: string };
  const frame = /^PL\/pgSQL function inline_code_block line (\d+) at (EXECUTE|PERFORM|RAISE)$/gm;
  const line = [...where.matchAll(frame)].at(-1)?.[1];
  return line === undefined ? undefined : files[Number(line) - declarations.length - 1];
}
