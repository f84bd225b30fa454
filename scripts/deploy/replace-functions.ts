import type { Client, DatabaseError } from "pg";
import { type SqlFile, SqlFileError } from "../sql/describe-sql-error.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { DeploymentRefused, refuseIfFound } from "./deployment-refused.ts";
import { functionSchemas, nameFunction } from "./read-files.ts";

/**
 * Replaces the functions of `db/functions` and their triggers, inside the caller's transaction. Functions and triggers that no
 * file has are dropped, and so are earlier signatures. Each function has exactly the rights that its file grants.
 *
 * @throws SqlFileError; DeploymentRefused if something durable depends on what would be dropped
 */
export async function replaceFunctions(client: Client, files: SqlFile[]): Promise<void> {
  const before = await readState(client);
  await createFunctions(client, files);
  await dropOthers(client, before);
  const { rows: statements } = await client.query<{ statement: string }>(revokeRights, [functionSchemas]);
  for (const { statement } of statements) await client.query(statement);
  // Now that all exist, PostgreSQL checks the bodies of those that call one another.
  await runSqlFiles(client, files);
  refuseOtherNames(files, await readState(client));
}

/**
 * Creates or replaces functions that have no triggers, which would lock tables. Until the deployment replaces all functions, what
 * other files no longer grant stays granted.
 *
 * @returns a hash of the functions of publication
 */
export async function createLockFreeFunctions(client: Client, files: SqlFile[]): Promise<string> {
  await createFunctions(
    client,
    files.filter(({ sql }) => !/^create or replace trigger/m.test(sql)),
  );
  return await hashPublicationFunctions(client);
}

/** Hashes the functions that the report service calls, and others of its schema. */
export async function hashPublicationFunctions(client: Client): Promise<string> {
  const { rows } = await client.query<{ hash: string }>(publicationFunctions);
  return rows[0]?.hash ?? "";
}

const publicationFunctions = `
select coalesce(md5(string_agg(pg_get_functiondef(oid), '' order by oid)), '') as hash
from pg_catalog.pg_proc where pronamespace = to_regnamespace('publication') and proname !~ '^find_'`;

/**
 * Replaces the functions of the schemas `extensions` and `data_set` before a migration runs: defaults and indexes of tables call
 * the ones, and migrations the others. Does nothing before the migrations that create the schemas.
 */
export async function replaceEarlyFunctions(client: Client, files: SqlFile[]): Promise<void> {
  const { rows: schemas } = await client.query<{ name: string }>(
    "select nspname as name from pg_catalog.pg_namespace where nspname in ('extensions', 'data_set')",
  );
  if (schemas.length === 0) return;
  await createFunctions(
    client,
    files.filter((file) => schemas.some(({ name }) => nameFunction(file).startsWith(`${name}.`))),
  );
}

/** Rebuilds the indexes whose functions were changed, without blocking requests. */
export async function rebuildOutdatedIndexes(client: Client, report: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ index_id: string; name: string | null }>(outdatedIndexes);
  for (const { index_id, name } of rows) {
    if (name !== null) {
      report(`Rebuilding the index ${name}, because a function that it calls has changed.`);
      await client.query(`reindex index concurrently ${name}`);
    }
    await client.query("delete from deployment.outdated_indexes where index_id = $1", [index_id]);
  }
}

// A refresh may have dropped an index since, and built a new one with the new function.
const outdatedIndexes = `
select index_id, pg_class.oid::regclass::text as name
from deployment.outdated_indexes left join pg_catalog.pg_class on pg_class.oid = index_id`;

interface State {
  /** The row of each function and trigger. PostgreSQL writes a new row if it replaces one. */
  rows: { row: string; name: string; drop: string; is_function: boolean }[];
  /** The bodies of the functions that each index calls, as a hash. */
  indexes: { index_id: string; bodies: string }[];
}

async function readState(client: Client): Promise<State> {
  const { rows } = await client.query<State>(state, [functionSchemas]);
  if (rows[0] === undefined) throw new Error("The query of the functions returned no row.");
  return rows[0];
}

const replaced = `
  replaced as (
    select pg_proc.*, pg_proc.ctid as place from pg_catalog.pg_proc
    where pronamespace = any (array(select to_regnamespace(name) from unnest($1::text[]) as name))
      -- Deployments install the leak check themselves.
      and not (pronamespace = to_regnamespace('publication') and proname ~ '^find_')
      and not exists (
        select from pg_catalog.pg_depend
        where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'
      )
  )`;

const state = `
with recursive ${replaced}, triggers as (
  select tgname, tgrelid::regclass::text as table_name, pg_trigger.oid || ' ' || pg_trigger.ctid::text as row
  from pg_catalog.pg_trigger join pg_catalog.pg_class on pg_class.oid = tgrelid
  where relnamespace = any (array(select to_regnamespace(name) from unnest($1::text[]) as name)) and not tgisinternal
), calls as (
  select objid as index_id, refobjid as function_id
  from pg_catalog.pg_depend join pg_catalog.pg_class on pg_class.oid = objid and relkind = 'i'
  where classid = 'pg_class'::regclass and refclassid = 'pg_proc'::regclass
  union
  select index_id, refobjid
  from calls join pg_catalog.pg_depend
    on classid = 'pg_proc'::regclass and objid = function_id and refclassid = 'pg_proc'::regclass
)
select
  (
    select coalesce(json_agg(listed), '[]')
    from (
      select oid || ' ' || place::text as row, pronamespace::regnamespace || '.' || proname as name,
        oid::regprocedure::text as drop, true as is_function
      from replaced
      union all
      select row, table_name, format('drop trigger %I on %s', tgname, table_name), false from triggers
    ) as listed
  ) as rows,
  (
    select coalesce(json_agg(listed), '[]')
    from (
      select index_id, md5(string_agg(coalesce(pg_get_function_sqlbody(oid), prosrc), '' order by oid)) as bodies
      from calls join replaced on oid = function_id group by index_id
    ) as listed
  ) as indexes`;

/** Creates or replaces functions. Drops a function first if PostgreSQL cannot replace it, because its signature has changed. */
async function createFunctions(client: Client, files: SqlFile[]): Promise<void> {
  const before = await readState(client);
  await client.query("set local check_function_bodies = off");
  await createInOrder(client, files);
  await client.query("set local check_function_bodies = on");
  await recordOutdatedIndexes(client, before, await readState(client));
}

async function createInOrder(client: Client, files: SqlFile[]): Promise<void> {
  const dropped = new Set<SqlFile>();
  for (;;) {
    await client.query("savepoint functions");
    try {
      return await runSqlFiles(client, files);
    } catch (error) {
      const { file, cause } = error instanceof SqlFileError ? error : {};
      // Its result or a parameter differs, or an earlier signature makes its name ambiguous.
      const isOther = ["42P13", "42725"].includes((cause as DatabaseError | undefined)?.code ?? "");
      if (!isOther || file === undefined || dropped.has(file)) throw error;
      await client.query("rollback to savepoint functions");
      dropped.add(file);
      const { rows } = await client.query<{ functions: string | null }>(withCallers, [nameFunction(file)]);
      if (!rows[0]?.functions) throw error;
      await drop(client, `drop function ${rows[0].functions}`);
    }
  }
}

// Functions that call it, if PostgreSQL knows that they do. Their files create them again.
const withCallers = `
with recursive found as (
  select oid from pg_catalog.pg_proc where pronamespace::regnamespace || '.' || proname = $1
  union
  select objid
  from found join pg_catalog.pg_depend
    on refclassid = 'pg_proc'::regclass and refobjid = oid and classid = 'pg_proc'::regclass and deptype = 'n'
)
select string_agg(oid::regprocedure::text, ', ') as functions from found`;

/** Drops the functions and triggers whose rows are the same as before, because no file replaced them. */
async function dropOthers(client: Client, before: State): Promise<void> {
  const known = new Set(before.rows.map(({ row }) => row));
  const others = (await readState(client)).rows.filter(({ row }) => known.has(row));
  for (const trigger of others.filter((one) => !one.is_function)) await client.query(trigger.drop);
  const functions = others.filter((one) => one.is_function).map((one) => one.drop);
  if (functions.length > 0) await drop(client, `drop function ${functions.join(", ")}`);
}

async function drop(client: Client, statement: string): Promise<void> {
  await client.query(statement).catch((cause: DatabaseError) => {
    if (cause.code !== "2BP01") throw cause;
    throw new DeploymentRefused(
      [
        `db/functions no longer has this function, or another signature of it, but something depends on it: ${cause.message}`,
        ...(cause.detail ?? "").split("\n").map((line) => `  ${line}`),
        "Keep the function. Or write a migration that changes what depends on it.",
      ].join("\n"),
      { cause },
    );
  });
}

// Also gives each function to the schema's owner, whichever role deploys.
const revokeRights = `
with ${replaced}
select format(
    'revoke all on function %s from %s cascade', replaced.oid::regprocedure,
    string_agg(case grantee when 0 then 'public' else grantee::regrole::text end, ', ')
  ) as statement
from replaced cross join lateral aclexplode(coalesce(proacl, acldefault('f', proowner)))
where grantee <> proowner
group by replaced.oid
union all
select format('alter function %s owner to %s', replaced.oid::regprocedure, nspowner::regrole)
from replaced join pg_catalog.pg_namespace on pg_namespace.oid = pronamespace
where proowner <> nspowner`;

/** Refuses files whose names are not the names of their functions. */
function refuseOtherNames(files: SqlFile[], { rows }: State): void {
  const made = rows.filter((one) => one.is_function).map(({ name }) => name);
  const names = files.map(nameFunction);
  refuseIfFound("These functions are not in a file of their own name in db/functions. Move them:", [
    ...made.filter((name) => !names.includes(name)),
    ...names.filter((name) => !made.includes(name)),
  ]);
}

async function recordOutdatedIndexes(client: Client, before: State, after: State): Promise<void> {
  const built = new Map(before.indexes.map(({ index_id, bodies }) => [index_id, bodies]));
  const outdated = after.indexes.filter(({ index_id, bodies }) => built.get(index_id) !== bodies);
  if (outdated.length === 0) return;
  await client.query(
    "insert into deployment.outdated_indexes (index_id) select unnest($1::oid[]) on conflict do nothing",
    [outdated.map(({ index_id }) => index_id)],
  );
}
