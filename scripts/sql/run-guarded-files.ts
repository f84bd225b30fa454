import type { ClientBase } from "pg";
import { describeStatement } from "./describe-sql-error.ts";
import { findForbiddenChange, type Part, readBefore, readSavepointId, type Scope } from "./read-changes.ts";
import { compareSessions, findFirst, readSession, runStatements } from "./run-sql-file.ts";
import { type SqlFile, type Statement, splitStatements } from "./split-statements.ts";

/** Files, where they may change the catalogue, and this rule in words. */
export interface GuardedFiles {
  files: SqlFile[];
  scope: Scope;
  rule: string;
  /** Takes the time that they run. */
  time?: <Result>(work: Promise<Result>) => Promise<Result>;
}

/**
 * Runs files inside the caller's transaction, and asks the database afterwards whether they did more than they may.
 * If so, the first statement that did is looked for by running fewer and fewer of them.
 *
 * @throws SqlFileError that names file, line and column: of what PostgreSQL refused, or what it should not have done
 */
export async function runGuardedFiles(client: ClientBase, groups: GuardedFiles[]): Promise<void> {
  const before = await readBefore(
    client,
    groups.map(({ scope }) => scope),
  );
  const session = await readSession(client);
  const all = groups.flatMap((group) =>
    group.files.flatMap(splitStatements).map((statement) => ({ statement, group })),
  );
  if (all.length === 0) return;
  const run = async (count: number): Promise<string | undefined> => {
    const parts: Part[] = [];
    for (const group of groups) {
      const statements = all.slice(0, count).filter((one) => one.group === group);
      if (statements.length === 0) continue;
      await client.query("savepoint guarded_group");
      parts.push({ from: await readSavepointId(client), scope: group.scope });
      const work = runStatements(
        client,
        statements.map(({ statement }) => statement),
      );
      await (group.time?.(work) ?? work);
      const problem = compareSessions(session, await readSession(client, session));
      if (problem !== undefined) return problem;
    }
    return await findForbiddenChange(client, before, parts);
  };
  const undo = () => client.query("rollback to guarded_files");
  await client.query("savepoint guarded_files");
  if ((await run(all.length)) === undefined) return void (await client.query("release guarded_files"));
  await undo();
  const at = await findFirst(all.length, async (count) => {
    const isFound = (await run(count)) !== undefined;
    await undo();
    return isFound;
  });
  const problem = await run(at);
  // What somebody else did meanwhile is not seen again.
  if (problem === undefined) return void (await client.query("release guarded_files"));
  await undo();
  const { statement, group } = all[at - 1] as { statement: Statement; group: GuardedFiles };
  throw describeStatement(statement, 0, problem, [`  ${group.rule}`]);
}
