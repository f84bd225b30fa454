import { randomUUID } from "node:crypto";
import type { ClientBase, QueryResultRow } from "pg";

/** Where statements may change the catalogue. */
export interface Scope {
  /** The schemas that are theirs, as a regular expression. */
  schemas: string;
  /** Schemas of another owner that a function changes for them, likewise. */
  others?: string;
  /** Whether they may make tables, indexes and policies there; else views, functions, types, comments and grants. */
  tables: boolean;
}

/** What the transaction had done before the statements whose changes are looked for. */
export interface Before {
  catalogues: Catalogue[];
  /** Rows that this transaction has not written, of each catalogue whose rows the statements may not remove. */
  untouched: Map<string, number>;
  traces: Traces;
}

/** Statements that begin at a transaction ID, and where they may change the catalogue. */
export interface Part {
  from: string;
  scope: Scope;
}

/** Reads the state that changes are compared with, by files of these scopes. */
export async function readBefore(client: ClientBase, scopes: Scope[]): Promise<Before> {
  const catalogues = await listCatalogues(client);
  const hasTables = scopes.some(({ tables }) => tables);
  return {
    catalogues,
    untouched: await countUntouched(
      client,
      catalogues.map(({ name }) => name).filter((name) => !(hasTables && inSchemas.has(name))),
    ),
    traces: await readTraces(client),
  };
}

/** The transaction ID of the savepoint that was just set: what follows has this one or a later one. */
export async function readSavepointId(client: ClientBase): Promise<string> {
  // A savepoint has an ID once something is written, and shows it by a lock alone.
  await client.query("select pg_logical_emit_message(true, 'deployment', '')");
  const { rows } = await client.query<{ id: string }>(
    `select pg_current_xact_id()::text::bigint - min(age(transactionid)) + age(pg_current_xact_id()::xid) as id
     from pg_locks where locktype = 'transactionid' and pid = pg_backend_pid() and mode = 'ExclusiveLock'`,
  );
  return rows[0]?.id ?? "";
}

/**
 * Asks the catalogue what statements of this transaction have changed beyond what they may: the rows that they wrote,
 * the rows that are gone, what they locked for writing, and roles. No statement changes a database and leaves none of
 * these traces.
 *
 * @param parts in order, each in a savepoint of its own
 * @returns a sentence, or nothing
 */
export async function findForbiddenChange(
  client: ClientBase,
  before: Before,
  parts: Part[],
): Promise<string | undefined> {
  const hasTables = parts.some(({ scope }) => scope.tables);
  const all = parts.map(({ scope: { schemas, others } }) => (others ? `${schemas}|${others}` : schemas));
  await client.query("select set_config('deployment.parts', $1, true)", [
    JSON.stringify({
      ids: parts.map(({ from }) => from),
      schemas: all,
      own: parts.map(({ scope }) => scope.schemas).join("|"),
    }),
  ]);
  const written = await askPrepared<{ what: string }>(client, writtenSql(before.catalogues, hasTables));
  if (written[0] !== undefined) return `It makes or changes ${written[0].what}.`;
  const { locks, roles } = await readTraces(client);
  const isOwn = new RegExp(`${all.join("|")}|^pg_toast$`);
  const locked = locks.filter(
    ({ schema, table }) => !isOwn.test(schema) && !before.traces.locks.some((lock) => lock.table === table),
  );
  if (locked.length > 0) return `It writes to ${locked.map(({ table }) => table).join(", ")}, or locks it.`;
  if (roles !== before.traces.roles) return "It changes a role.";
  const foreign = await askPrepared<{ what: string }>(client, foreignSql);
  if (foreign[0] !== undefined) return `It gives ${foreign[0].what} to another owner.`;
  const untouched = await countUntouched(client, [...before.untouched.keys()]);
  const gone = [...before.untouched].find(([name, count]) => (untouched.get(name) ?? 0) < count);
  return gone === undefined ? undefined : `It removes what is not its own: a row of ${gone[0]} is gone.`;
}

/**
 * Asks what a session asks again and again. Without parameters it is planned once, and planning takes the longest. A file
 * may have removed what was prepared, and prepared something else by its name: only what came with this text counts, and
 * not by SQL.
 */
async function askPrepared<Row extends QueryResultRow>(client: ClientBase, text: string): Promise<Row[]> {
  const { rows } = await client.query<{ name: string }>(
    "select name from pg_catalog.pg_prepared_statements where statement = $1 and not from_sql limit 1",
    [text],
  );
  return (await client.query<Row>({ name: rows[0]?.name ?? randomUUID(), text })).rows;
}

// Statistics, and what follows from the other catalogues.
const ignored = ["pg_depend", "pg_shdepend", "pg_statistic", "pg_statistic_ext_data"];

/** Catalogues of what stands in schemas, where a data set drops and renames its own. */
const inSchemas = new Set([
  ...["pg_namespace", "pg_class", "pg_attribute", "pg_attrdef", "pg_index", "pg_constraint", "pg_type"],
  ...["pg_rewrite", "pg_policy", "pg_trigger", "pg_description", "pg_sequence", "pg_inherits", "pg_proc"],
]);

interface Catalogue {
  name: string;
  has_oid: boolean;
}

/** The catalogues that the role may read: all of them for a superuser, all but those with passwords for others. */
async function listCatalogues(client: ClientBase): Promise<Catalogue[]> {
  return await askPrepared<Catalogue>(
    client,
    `select relname as name,
       exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'oid') as has_oid
     from pg_class
     where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r'
       and relname <> all (array['${ignored.join("', '")}']) and has_table_privilege(oid, 'select')
     order by relname`,
  );
}

// Other databases come and go.
const from = (name: string) =>
  `from pg_catalog.${name} as t where ${name === "pg_database" ? "t.datname = current_database() and " : ""}`;

async function countUntouched(client: ClientBase, catalogues: string[]): Promise<Map<string, number>> {
  const each = catalogues.map(
    (name) => `select '${name}' as name, count(*)::integer as rows ${from(name)}age(t.xmin) > 0`,
  );
  const rows = await askPrepared<{ name: string; rows: number }>(client, each.join(" union all "));
  return new Map(rows.map((row) => [row.name, row.rows]));
}

/** The object that a row belongs to, where the row is none itself. */
const addresses: Record<string, string> = {
  pg_attribute: "'pg_class'::regclass, t.attrelid, greatest(t.attnum, 0)",
  pg_index: "'pg_class'::regclass, t.indexrelid, 0",
  pg_sequence: "'pg_class'::regclass, t.seqrelid, 0",
  pg_inherits: "'pg_class'::regclass, t.inhrelid, 0",
  pg_aggregate: "'pg_proc'::regclass, t.aggfnoid, 0",
  pg_enum: "'pg_type'::regclass, t.enumtypid, 0",
  pg_range: "'pg_type'::regclass, t.rngtypid, 0",
  pg_db_role_setting: "'pg_authid'::regclass, t.setrole, 0",
  pg_description: "t.classoid, t.objoid, t.objsubid",
  pg_shdescription: "t.classoid, t.objoid, 0",
};

/** Catalogues of objects that PostgreSQL has names for. */
const named = [
  ...["pg_class", "pg_proc", "pg_type", "pg_namespace", "pg_rewrite", "pg_constraint", "pg_policy"],
  ...["pg_trigger", "pg_attrdef", "pg_authid", "pg_auth_members", "pg_extension", "pg_cast", "pg_operator"],
  ...["pg_default_acl", "pg_event_trigger", "pg_publication", "pg_database", "pg_language"],
];

// age() of a row that this transaction wrote is never above zero. Nor is that of what others have committed since:
// those transactions are not in progress any more.
const writtenSql = (catalogues: Catalogue[], hasTables: boolean) => `
with written (catalogue, class, object, part, id) as (
  ${catalogues
    .map(({ name, has_oid }) => {
      const address = addresses[name] ?? `t.tableoid, ${has_oid ? "t.oid" : "0::oid"}, 0`;
      return `select '${name}'::text, ${address}, t.xmin ${from(name)}age(t.xmin) <= 0`;
    })
    .join(" union all ")}
  -- What becomes part of an extension, or goes with one.
  union all select 'pg_depend', 'pg_depend'::regclass, 0, 0, t.xmin ${from("pg_depend")}age(t.xmin) <= 0 and t.deptype in ('e', 'x')
), parts as materialized (
  select
    array(select jsonb_array_elements_text(given -> 'ids')::bigint) as ids,
    array(select jsonb_array_elements_text(given -> 'schemas')) as schemas
  from (select current_setting('deployment.parts')::jsonb as given) as setting
), ours as (
  select written.*, width_bucket(full_id, parts.ids) as number, parts.schemas
  from written
  cross join parts
  cross join lateral (select pg_current_xact_id()::text::bigint - age(id) + age(pg_current_xact_id()::xid) as full_id) as ids
  where full_id >= parts.ids[1] and pg_xact_status(full_id::text::xid8) = 'in progress'
), named as (
  select distinct ours.catalogue, ours.number, ours.schemas[ours.number] as allowed, o.*, coalesce(
      o.schema, case when o.type = 'schema' then o.name end, substring(o.identity from '(?: on |^for )"?([^".]+)')
    ) as place
  from ours left join lateral (
    -- It fails for what it has no name for.
    select * from pg_identify_object(
      case when ours.class = any (array['${named.join("', '")}']::regclass[]) then ours.class end, ours.object, ours.part
    )
  ) as o on true
)
select coalesce('the ' || type || ' ' || identity, 'a row of ' || catalogue) as what
from named
where not coalesce(
  ${
    hasTables
      ? "place = 'pg_toast' or place ~ allowed"
      : `place ~ allowed and (
    type in ('schema', 'view', 'view column', 'composite type', 'composite type column', 'type', 'domain constraint', 'function', 'aggregate')
    or catalogue = 'pg_rewrite' and identity like '"_RETURN" on %')`
  }, false)
order by number, place is not null, identity limit 1`;

// Of a role that someone may change without reading pg_authid, the rest of the row tells; of a password, the lock.
interface Traces {
  locks: { schema: string; table: string }[];
  roles: string;
}

async function readTraces(client: ClientBase): Promise<Traces> {
  const locks = await askPrepared<{ schema: string; table: string }>(
    client,
    `select distinct nspname as schema, format('%I.%I', nspname, relname) as table
     from pg_locks join pg_class on pg_class.oid = pg_locks.relation
     join pg_namespace on pg_namespace.oid = relnamespace
     where pid = pg_backend_pid() and mode <> 'AccessShareLock'
       and database in (0, (select oid from pg_database where datname = current_database()))
       -- No rollback takes a sequence's lock back, nor its numbers.
       and (pg_class.oid >= 16384 and relkind not in ('S', 'i') or relname = 'pg_authid')`,
  );
  const rows = await askPrepared<{ roles: string }>(
    client,
    "select md5(string_agg(to_jsonb(pg_roles)::text, '' order by oid)) as roles from pg_roles",
  );
  return { locks, roles: rows[0]?.roles ?? "" };
}

// A name is looked up for what is found alone: for all objects it would take ten times as long.
const foreignSql = `
select case kind
    when 'schema' then (select nspname::text from pg_namespace where pg_namespace.oid = objects.oid)
    when 'relation' then objects.oid::regclass::text
    when 'routine' then objects.oid::regprocedure::text
    else objects.oid::regtype::text
  end as what
from (
  select 'schema' as kind, oid, nspowner as owner, oid as namespace from pg_namespace
  union all select 'relation', oid, relowner, relnamespace from pg_class
  union all select 'routine', oid, proowner, pronamespace from pg_proc
  union all select 'type', oid, typowner, typnamespace from pg_type
) as objects
where owner <> (select oid from pg_roles where rolname = current_user)
  and namespace = any (array(select oid from pg_namespace where nspname ~ (current_setting('deployment.parts')::jsonb ->> 'own')))
limit 1`;
