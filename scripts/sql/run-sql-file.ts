import { type ClientBase, escapeLiteral } from "pg";
import { describeSqlError, describeStatement } from "./describe-sql-error.ts";
import { type SqlFile, type Statement, splitStatements } from "./split-statements.ts";

/** Statements as SQL that PostgreSQL runs from a function, where it refuses what would end the transaction. */
export interface GuardedSql {
  /** Comes first, in the same transaction. */
  prepare: string;
  run: string;
}

// Each statement on a line of its own: the error's context names the line.
export function guardStatements(statements: Statement[]): GuardedSql {
  const texts = JSON.stringify(statements.map(({ text }) => text));
  const lines = [
    // Not in the text of the block, where PostgreSQL would look for the bodies of functions that do not compile.
    "do $run$ declare statements constant text[] := array(select json_array_elements_text(current_setting('deployment.statements')::json)); begin",
    ...statements.map((_, index) => `execute statements[${index + 1}];`),
    "end $run$",
  ];
  return {
    prepare: `select set_config('deployment.statements', ${escapeLiteral(texts)}, true)`,
    run: lines.join("\n"),
  };
}

/** Names the statement that failed. */
export function locateError(statements: Statement[], error: unknown): unknown {
  const { where = "" } = error as { where?: string };
  const line = [...where.matchAll(/^PL\/pgSQL function inline_code_block line (\d+) at EXECUTE$/gm)].at(-1);
  const statement = statements[Number(line?.[1] ?? 0) - 2];
  return statement === undefined ? error : describeSqlError(statement, error);
}

/** @throws SqlFileError that names file, line and column */
export async function runStatements(client: ClientBase, statements: Statement[]): Promise<void> {
  const { prepare, run } = guardStatements(statements);
  await client.query(prepare);
  await client.query(run).catch((error: unknown) => {
    throw locateError(statements, error);
  });
}

/**
 * Runs a file of SQL inside the caller's transaction. PostgreSQL refuses in it what would end the transaction, or
 * cannot be part of one. Role and settings are the same afterwards.
 *
 * @param before the session as it is
 * @throws SqlFileError that names file, line and column
 */
export async function runSqlFile(client: ClientBase, file: SqlFile, before: Session): Promise<void> {
  const statements = splitStatements(file);
  await client.query("savepoint sql_file");
  await runStatements(client, statements);
  const problem = compareSessions(before, await readSession(client, before));
  if (problem === undefined) return void (await client.query("release sql_file"));
  await client.query("rollback to sql_file");
  const at = await findFirst(statements.length, async (count) => {
    await runStatements(client, statements.slice(0, count));
    const isFound = compareSessions(before, await readSession(client, before)) !== undefined;
    await client.query("rollback to sql_file");
    return isFound;
  });
  throw describeStatement(statements[at - 1] as Statement, 0, problem);
}

/** Which of the first 1 to `count` things is the first with which something holds, that holds with all of them. */
export async function findFirst(count: number, holds: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [1, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await holds(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

export type Session = Record<string, string>;

const sessionSql = (names: string) => `
select coalesce(jsonb_object_agg(name, current_setting(name)), '{}') || jsonb_build_object(
  'role', current_setting('role'), 'current_user', current_user, 'session_authorization', session_user) as session
from ${names}`;
// What a server's operator may change meanwhile is left out.
const firstSql = sessionSql("pg_catalog.pg_settings where context in ('user', 'superuser')");
// Asked one by one they cost half as much. Another role may not see all of them.
const againSql = sessionSql("unnest($1::text[]) as name where current_user = $2");

/**
 * The role and the settings of a session.
 *
 * @param before the same session earlier: then only these settings, and none where the role is another
 */
export async function readSession(client: ClientBase, before?: Session): Promise<Session> {
  const { role, current_user, session_authorization, ...settings } = before ?? {};
  const query =
    before === undefined
      ? { text: firstSql }
      : { text: againSql, values: [Object.keys(settings), current_user] };
  const { rows } = await client.query<{ session: Session }>(query);
  return rows[0]?.session ?? {};
}

/** What a file has changed of its session, in words. */
export function compareSessions(before: Session, after: Session): string | undefined {
  const name = ["session_authorization", "role", ...Object.keys(before)].find(
    (one) => before[one] !== after[one],
  );
  return name === undefined
    ? undefined
    : `It leaves ${name} changed for what comes after it: ${JSON.stringify(before[name])} became ${JSON.stringify(after[name])}.`;
}
