import { expect, it } from "vitest";
import { query } from "../support/target.ts";
import { rights } from "./rights.ts";

// PostgreSQL's catalog must show exactly the rights that rights.ts lists.

const roles = Object.keys(rights);
const objects = `
  namespaces as (
    select oid, nspname as name, nspowner, nspacl from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
  ), relations as (
    select pg_class.*, concat(name, '.', relname) as name, name as schema
    from pg_class join namespaces on namespaces.oid = relnamespace where relkind in ('r', 'v', 'm', 'p', 'f')
  ), functions as (
    select pg_proc.*, concat(name, '.', proname) as name, name as schema
    from pg_proc join namespaces on namespaces.oid = pronamespace
    -- A superuser owns an extension's functions, whichever role created the extension.
    where not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
  )`;

const list = async (sql: string, values: unknown[] = []) =>
  (await query<{ name: string }>(`with ${objects} ${sql}`, values)).map(({ name }) => name).sort();

/** Lists the schemas in which a role owns objects, and its privileges on objects that it does not own. */
const held = `
  select 'owns ' || replace(schema, '_previous', '') as name from relations where relowner = $1::regrole
  union select 'owns ' || schema from functions where proowner = $1::regrole
  union select 'owns ' || replace(name, '_previous', '') from namespaces where nspowner = $1::regrole
  union select concat(privilege, 's ', name) from namespaces, unnest(array['use', 'create']) as privilege
    where has_schema_privilege($1, oid, replace(privilege, 'use', 'usage')) and nspowner <> $1::regrole
  union select concat('reads ', name, case when not has_table_privilege($1, oid, 'select') then (
      select format('(%s)', string_agg(attname, ',' order by attname)) from pg_attribute
      where attrelid = oid and attnum > 0 and has_column_privilege($1, oid, attnum, 'select')
    ) end)
    from relations where has_any_column_privilege($1, oid, 'select') and relowner <> $1::regrole
  union select concat('writes ', name, ':', privilege)
    from relations, unnest(array['insert', 'update', 'references']) as privilege
    where has_any_column_privilege($1, oid, privilege) and relowner <> $1::regrole
  union select concat('writes ', name, ':', privilege)
    from relations, unnest(array['delete', 'truncate', 'trigger', 'maintain']) as privilege
    where has_table_privilege($1, oid, privilege) and relowner <> $1::regrole
  union select 'runs ' || regexp_replace(name, '^(api_v\\w+\\.)(?!request_file_access).*', '\\1*') from functions
    where has_function_privilege($1, oid, 'execute') and proowner <> $1::regrole`;

it.each(Object.entries(rights))("%s has exactly the rights in rights.ts", async (role, may) => {
  const lines = Object.entries(may).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name) => `${kind} ${name}`),
  );
  expect(await list(held, [role])).toEqual(lines.sort());
});

it("only authenticator can switch to other roles, and it inherits none of their rights", async () => {
  const memberships = await list(
    `select concat(member::regrole, ' → ', roleid::regrole, case when inherit_option then ' inherits' end) as name
     from pg_auth_members where member::regrole::text = any ($1)`,
    [roles],
  );
  const become = ["authenticator → api_public", "authenticator → api_tribal", "authenticator → gateway"];
  expect(memberships).toEqual(become);
});

it("requests keep the order of the file, and their memory is bounded", async () => {
  const settings = "select unnest(setconfig) as name from pg_db_role_setting where setrole = $1::regrole";
  expect(await list(settings, ["gateway"])).toEqual([
    "enable_indexonlyscan=off",
    "hash_mem_multiplier=1",
    "max_parallel_workers_per_gather=0",
    "synchronize_seqscans=off",
    "work_mem=65536",
  ]);
});

it("only the roles that services connect as can log in", async () => {
  const canLogIn = "select rolname as name from pg_roles where rolname = any ($1) and rolcanlogin";
  expect(await list(canLogIn, [roles])).toEqual(["authenticator", "publisher", "report_service", "site"]);
});

it.each([
  [
    "role has an attribute that bypasses privileges",
    `select rolname as name from pg_roles where rolname in ('${roles.join("', '")}')
     and (rolsuper or rolcreatedb or rolcreaterole or rolbypassrls or rolreplication)`,
  ],
  [
    "function, relation or schema of this database grants a privilege to public",
    `select name from functions, aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0
     union all select name from relations, aclexplode(relacl) where grantee = 0
     union all select name from namespaces, aclexplode(nspacl) where grantee = 0`,
  ],
  [
    "privilege on this database is granted to public",
    `select privilege_type as name from pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
     where datname = current_database() and grantee = 0`,
  ],
  [
    "security definer function lacks an empty search_path",
    `select name from functions where prosecdef and not coalesce(proconfig @> array['search_path=""'], false)`,
  ],
])("no %s", async (_, sql) => expect(await list(sql)).toEqual([]));

// test/scripts/deploy/leaks.test.ts covers row-level security, policies and view options (publication.find_leaks()).
