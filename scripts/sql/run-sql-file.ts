import { type ClientBase, escapeLiteral } from "pg";
import { describeSqlError, type SqlFile, SqlFileError } from "./describe-sql-error.ts";

/**
 * Runs files of SQL inside the caller's transaction, in one round trip. PostgreSQL refuses in them what would end the
 * transaction, or cannot be part of one.
 *
 * @param run how PL/pgSQL runs the text of a file: `execute`, or `perform` and the name of a function
 * @throws SqlFileError that names the file and, if PostgreSQL says it, line and column
 */
export async function executeFiles(client: ClientBase, files: SqlFile[], run = "execute"): Promise<void> {
  const texts = JSON.stringify(files.map(({ sql }) => sql));
  const lines = [
    // Not in the text of the block, where PostgreSQL would look for the bodies of functions that do not compile.
    "do $run$ declare files constant text[] := array(select json_array_elements_text(current_setting('deployment.files')::json)); begin",
    // Each on a line of its own: the error's context names the line.
    ...files.map((_, index) => `${run} (files[${index + 1}]);`),
    "end $run$",
  ];
  await client.query(`select set_config('deployment.files', ${escapeLiteral(texts)}, true)`);
  await client.query(lines.join("\n")).catch((error: unknown) => {
    const { where = "" } = error as { where?: string };
    const frames = where.matchAll(/^PL\/pgSQL function inline_code_block line (\d+) at (EXECUTE|PERFORM)$/gm);
    const file = files[Number([...frames].at(-1)?.[1] ?? 0) - 2];
    throw file === undefined ? error : describeSqlError(file, error);
  });
}

/**
 * Runs files as `executeFiles` does, and refuses them if role or settings are not the same afterwards.
 *
 * @throws SqlFileError
 */
export async function runSqlFiles(client: ClientBase, files: SqlFile[], run?: string): Promise<void> {
  const before = await readSession(client);
  await executeFiles(client, files, run);
  await client.query("set constraints all immediate");
  const after = await readSession(client);
  const name = Object.keys(before).find((one) => before[one] !== after[one]);
  if (name === undefined) return;
  throw new SqlFileError(
    [
      `${files.map((file) => file.name).join(", ")}: ${name} is left changed for what comes after: ${JSON.stringify(before[name])} became ${JSON.stringify(after[name])}.`,
      "  Reset it at the end of the file, or use set local inside a function.",
    ].join("\n"),
  );
}

/** The role and the settings of a session. */
async function readSession(client: ClientBase): Promise<Record<string, string>> {
  const { rows } = await client.query<{ session: Record<string, string> }>(
    `select jsonb_object_agg(name, setting) || jsonb_build_object(
       'role', current_user, 'session_authorization', session_user) as session
     from pg_catalog.pg_settings where context in ('user', 'superuser')`,
  );
  return rows[0]?.session ?? {};
}
