import { type ClientBase, escapeLiteral } from "pg";
import { describeSqlError, type SqlFile } from "./describe-sql-error.ts";

/**
 * Runs SQL files inside the caller's transaction, in one round trip. PostgreSQL refuses statements in them that would
 * end the transaction or cannot be part of one.
 *
 * @param run how PL/pgSQL runs the text of a file: `execute`, or `perform` and the name of a function
 * @throws SqlFileError that names the file and, if PostgreSQL reports them, line and column
 */
export async function runSqlFiles(client: ClientBase, files: SqlFile[], run = "execute"): Promise<void> {
  const texts = JSON.stringify(files.map(({ sql }) => sql));
  const lines = [
    // The files are not in the block's text, which PostgreSQL would search for the body of a function with an error.
    "do $run$ declare files constant text[] := array(select json_array_elements_text(current_setting('deployment.files')::json)); runner constant name := current_user; begin",
    // One file per line, because an error's context names the line of the block.
    ...files.map((_, index) => `${run} (files[${index + 1}]); ${refuseOtherRole}`),
    "end $run$",
  ];
  await client.query(`select set_config('deployment.files', ${escapeLiteral(texts)}, true)`);
  await client.query(lines.join("\n")).catch((error: unknown) => {
    const { where = "" } = error as { where?: string };
    const frames = where.matchAll(
      /^PL\/pgSQL function inline_code_block line (\d+) at (EXECUTE|PERFORM|RAISE)$/gm,
    );
    const file = files[Number([...frames].at(-1)?.[1] ?? 0) - 2];
    throw file === undefined ? error : describeSqlError(file, error);
  });
}

// Otherwise, what the files create would belong to the other role.
const refuseOtherRole =
  "if current_user <> runner then raise 'the file leaves the role changed from % to %', runner, current_user; end if;";
