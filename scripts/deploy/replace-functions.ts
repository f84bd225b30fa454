import type { Client, DatabaseError } from "pg";
import { type SqlFile, SqlFileError } from "../sql/describe-sql-error.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { DeploymentRefused, refuseIfFound } from "./deployment-refused.ts";
import { functionSchemas, nameFunction } from "./read-files.ts";

/** What `completeFunctions` has to drop, and the triggers that existed before. */
export interface Replaced {
  others: string[];
  triggers: Set<string>;
  /** Whether to keep functions that something durable depends on, because newer migrations, which stay, made it. */
  keepsUsed?: boolean;
}

const hasTrigger = ({ sql }: SqlFile) => /^create or replace trigger/m.test(sql);

/**
 * Replaces the functions of `db/functions` inside the caller's transaction, as far as that locks no table and needs nothing
 * dropped: `completeFunctions` does the rest. Each function has exactly the rights that its file grants.
 *
 * @throws SqlFileError; DeploymentRefused
 */
export async function replaceFunctions(
  client: Client,
  files: SqlFile[],
  keepsUsed = false,
): Promise<Replaced> {
  const free = files.filter((file) => !hasTrigger(file));
  const rows = new Set((await readRows(client)).map(({ row }) => row));
  await createFunctions(client, free);
  const after = await readRows(client);
  const triggerFunctions = files.filter(hasTrigger).map(nameFunction);
  const others = after.filter(
    ({ row, name, is_function }) => is_function && rows.has(row) && !triggerFunctions.includes(name),
  );
  const created = after.filter((row) => !others.includes(row));
  // Other functions may stay, with their rights.
  await revokeRights(client, created);
  // Now that all exist, PostgreSQL checks the bodies of those that call one another.
  await runSqlFiles(client, free);
  refuseOtherNames(free, created);
  return { others: others.map((one) => one.drop), triggers: rows, keepsUsed };
}

/**
 * Replaces the functions that have triggers, and the triggers, and drops functions, triggers and earlier signatures that no file has.
 *
 * @throws SqlFileError; DeploymentRefused if something durable depends on what would be dropped
 */
export async function completeFunctions(
  client: Client,
  files: SqlFile[],
  { others, triggers, keepsUsed }: Replaced,
): Promise<void> {
  const locking = files.filter(hasTrigger);
  await createInOrder(client, locking);
  const rows = await readRows(client);
  refuseOtherNames(locking, rows);
  for (const one of rows) if (!one.is_function && triggers.has(one.row)) await client.query(one.drop);
  const used = keepsUsed
    ? (await client.query<{ name: string }>(usedFunctions, [others])).rows.map(({ name }) => name)
    : [];
  const unused = others.filter((name) => !used.includes(name));
  if (unused.length > 0) await drop(client, `drop function ${unused.join(", ")}`);
  const names = locking.map(nameFunction);
  await revokeRights(
    client,
    rows.filter(({ name }) => names.includes(name)),
  );
}

// The given functions that something other than these depends on, and the functions that they call.
const usedFunctions = `
with recursive used as (
  select refobjid as oid from pg_catalog.pg_depend
  where refclassid = 'pg_proc'::regclass and refobjid = any ($1::text[]::regprocedure[])
    and not (classid = 'pg_proc'::regclass and objid = any ($1::text[]::regprocedure[]))
  union
  select refobjid from used join pg_catalog.pg_depend
    on classid = 'pg_proc'::regclass and objid = used.oid and refclassid = 'pg_proc'::regclass
)
select oid::regprocedure::text as name from used`;

/**
 * Replaces the functions of the schemas `extensions`, which defaults and indexes of tables call, and `data_set`, which
 * migrations call, before a migration runs. Does nothing before the migrations that create the schemas.
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

/** A function or a trigger. PostgreSQL writes a new row if it replaces one. */
interface Row {
  row: string;
  name: string;
  drop: string;
  is_function: boolean;
  rights: string | null;
}

const readRows = async (client: Client): Promise<Row[]> =>
  (await client.query<Row>(functionsAndTriggers, [functionSchemas])).rows;

const functionsAndTriggers = `
select pg_proc.oid || ' ' || pg_proc.ctid::text as row, nspname || '.' || proname as name,
  pg_proc.oid::regprocedure::text as drop, true as is_function,
  nullif(concat_ws(
    '; ',
    (
      select format(
        'revoke all on function %s from %s cascade', pg_proc.oid::regprocedure,
        string_agg(case grantee when 0 then 'public' else grantee::regrole::text end, ', ')
      )
      from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee <> proowner having count(*) > 0
    ),
    -- Whichever role deploys, its functions belong to the role that deployed first.
    case when proowner <> nspowner then
      format('alter function %s owner to %s', pg_proc.oid::regprocedure, nspowner::regrole)
    end
  ), '') as rights
from pg_catalog.pg_proc join pg_catalog.pg_namespace on pg_namespace.oid = pronamespace
where nspname = any ($1)
  -- Deployments install the leak check themselves.
  and not (nspname = 'publication' and proname ~ '^find_')
  and not exists (
    select from pg_catalog.pg_depend
    where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'
  )
union all
select pg_trigger.oid || ' ' || pg_trigger.ctid::text, tgrelid::regclass::text,
  format('drop trigger %I on %s', tgname, tgrelid::regclass), false, null
from pg_catalog.pg_trigger
join pg_catalog.pg_class on pg_class.oid = tgrelid
join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
where nspname = any ($1) and not tgisinternal`;

/** Creates or replaces functions. Drops a function first if PostgreSQL cannot replace it, because its signature has changed. */
async function createFunctions(client: Client, files: SqlFile[]): Promise<void> {
  await client.query("set local check_function_bodies = off");
  await createInOrder(client, files);
  await client.query("set local check_function_bodies = on");
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

async function revokeRights(client: Client, rows: Row[]): Promise<void> {
  await client.query(rows.flatMap(({ rights }) => rights ?? []).join(";"));
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

function refuseOtherNames(files: SqlFile[], rows: Row[]): void {
  refuseIfFound(
    "These files of db/functions do not create the function that they are named after:",
    files.map(nameFunction).filter((name) => !rows.some((one) => one.name === name)),
  );
}
