import type { Client } from "pg";

/** An object of a database, and all that defines it as lines of text. */
export interface CatalogueObject {
  kind: string;
  /** With its schema, and a function with its arguments. */
  name: string;
  definition: string;
}

/** Schemas of the API: what a deployment rebuilds. */
export const apiSchemaPattern = "^(request|(admin_)?api_v[0-9]+(_[0-9]+)*)$";

/** Every schema that the repository defines. What a load builds or keeps beside the live data set is left out. */
export const allSchemasPattern = `${apiSchemaPattern}|^(access|deployment|publication|disclosed|suppressed|dissemination)$`;

// Who may do what, one line a role; the owner's own rights are left out.
const rights = (acl: string, kind: string, owner: string) => `(
  select string_agg(format('grant %s to %s', lower(r.privileges), r.grantee), E'\\n' order by r.grantee)
  from (
    select coalesce(pg_roles.rolname, 'public') as grantee, string_agg(a.privilege_type, ', ' order by a.privilege_type) as privileges
    from aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) as a
    left join pg_roles on pg_roles.oid = a.grantee
    where a.grantee <> ${owner}
    group by 1
  ) as r)`;

// Only the publisher owns things beside whoever deploys.
const ownership = (owner: string) =>
  `(select 'owner publisher' from pg_roles where oid = ${owner} and rolname = 'publisher')`;

// Without the data set that publication.describe_data_set() adds.
const ownComment = `regexp_replace(obj_description(s.oid, 'pg_namespace'), '\\n\\nData set [0-9a-f-]{36}, published \\S+$', '')`;

const sql = `
with schemas as (select * from pg_namespace where nspname ~ $1)
select 'schema' as kind, s.nspname::text as name,
  concat_ws(E'\\n', ${ownership("s.nspowner")}, 'comment ' || ${ownComment}, ${rights("s.nspacl", "n", "s.nspowner")}) as definition
from schemas s
union all
select case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, s.nspname || '.' || c.relname,
  concat_ws(E'\\n',
    ${ownership("c.relowner")},
    'options ' || array_to_string(c.reloptions, ', '),
    case when c.relrowsecurity then 'row level security' end,
    (select string_agg(concat_ws(' ', 'column', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end,
        case when a.attidentity <> '' then 'identity' end,
        'default ' || pg_get_expr(d.adbin, d.adrelid),
        '-- ' || col_description(c.oid, a.attnum)), E'\\n' order by a.attnum)
      from pg_attribute a left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and c.relkind <> 'S'),
    case when c.relkind = 'v' then pg_get_viewdef(c.oid) end,
    (select string_agg(format('constraint %s %s', conname, pg_get_constraintdef(oid)), E'\\n' order by conname)
      from pg_constraint where conrelid = c.oid and contype <> 'n'),
    (select string_agg(pg_get_indexdef(indexrelid), E'\\n' order by pg_get_indexdef(indexrelid)) from pg_index
      where indrelid = c.oid and not exists (select from pg_constraint where conindid = indexrelid)),
    (select string_agg(pg_get_triggerdef(oid), E'\\n' order by tgname) from pg_trigger where tgrelid = c.oid and not tgisinternal),
    (select string_agg(format('policy %s for %s to %s using (%s)', polname, polcmd, polroles::regrole[], pg_get_expr(polqual, polrelid)), E'\\n' order by polname)
      from pg_policy where polrelid = c.oid),
    'comment ' || obj_description(c.oid, 'pg_class'),
    case when c.relkind <> 'S' then ${rights("c.relacl", "r", "c.relowner")} end)
from schemas s join pg_class c on c.relnamespace = s.oid and c.relkind in ('r', 'p', 'v', 'm', 'S')
union all
select 'function', format('%s.%s(%s)', s.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
  concat_ws(E'\\n', ${ownership("p.proowner")}, case p.prokind
      when 'a' then (select format('aggregate %s %s %s', aggtransfn, aggtranstype::regtype, aggfinalfn) from pg_aggregate where aggfnoid = p.oid)
      else pg_get_functiondef(p.oid)
    end, 'comment ' || obj_description(p.oid, 'pg_proc'), ${rights("p.proacl", "f", "p.proowner")})
from schemas s join pg_proc p on p.pronamespace = s.oid
union all
select 'type', s.nspname || '.' || t.typname,
  concat_ws(E'\\n', 'type ' || t.typtype::text, 'of ' || nullif(format_type(t.typbasetype, t.typtypmod), '-'),
    (select string_agg(concat_ws(' ', 'field', a.attname, format_type(a.atttypid, a.atttypmod)), E'\\n' order by a.attnum)
      from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0),
    (select string_agg(format('value %s', enumlabel), E'\\n' order by enumsortorder) from pg_enum where enumtypid = t.oid),
    (select string_agg(format('constraint %s %s', conname, pg_get_constraintdef(oid)), E'\\n' order by conname) from pg_constraint where contypid = t.oid),
    'comment ' || obj_description(t.oid, 'pg_type'))
from schemas s join pg_type t on t.typnamespace = s.oid
left join pg_class c on c.oid = t.typrelid
where t.typtype in ('d', 'e') or c.relkind = 'c'
order by 1, 2`;

/** Reads the objects of the schemas whose names match a pattern, with their definitions, rights and comments. */
export async function readCatalogue(client: Client, schemaPattern: string): Promise<CatalogueObject[]> {
  // Names are qualified in definitions when the path is empty.
  const { rows: paths } = await client.query("select current_setting('search_path') as path");
  await client.query("select set_config('search_path', '', false)");
  try {
    return (await client.query<CatalogueObject>(sql, [schemaPattern])).rows;
  } finally {
    await client.query("select set_config('search_path', $1, false)", [paths[0].path]);
  }
}
