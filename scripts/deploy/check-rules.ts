import type { Client } from "pg";
import { DeploymentRefused } from "./deployment-refused.ts";

// What the rights of api_owner do not forbid, asked of the catalog: an API schema holds views, functions and types, which
// only api_public and api_tribal may read or run; and it must stay cheap to page through, and described.
const rules = `
with relations as materialized (
  select served_schemas.name as schema_name, pg_class.*
  from publication.served_schemas
  join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid
), functions as materialized (
  select pg_proc.*, pg_proc.oid::regprocedure::text as signature
  from publication.served_schemas
  join pg_catalog.pg_proc on pg_proc.pronamespace = served_schemas.oid
), grants as (
  select format('%I.%I', schema_name, relname) as object, rights.*, relowner as owner, 'SELECT' as allowed
  from relations cross join lateral aclexplode(relacl) as rights
  union all
  select format('%I.%I.%I', schema_name, relname, attname), rights.*, relowner, 'SELECT'
  from relations join pg_catalog.pg_attribute on attrelid = relations.oid
  cross join lateral aclexplode(attacl) as rights
  union all
  select signature, rights.*, proowner, 'EXECUTE'
  from functions cross join lateral aclexplode(coalesce(proacl, acldefault('f', proowner))) as rights
  union all
  select format('schema %I', name), rights.*, nspowner, 'USAGE'
  from publication.served_schemas join pg_catalog.pg_namespace on pg_namespace.oid = served_schemas.oid
  cross join lateral aclexplode(nspacl) as rights
)
select format('%I.%I', schema_name, relname) as object,
  'API schemas hold views, functions and types. Make tables in a migration, or in db/data_set.' as rule
from relations where relkind not in ('v', 'c')
union all
select object, case grantee
    when 0 then format('%s is granted to PUBLIC. Add: revoke all on … from public, and grant it to api_public or api_tribal.', privilege_type)
    else format('%s is granted to %s. Grant %s, to api_public or api_tribal.', privilege_type, grantee::regrole, lower(allowed))
  end
from grants
where grantee <> owner
  and (grantee = 0 or privilege_type <> allowed or is_grantable or grantee::regrole::text not in ('api_public', 'api_tribal'))
union all
select 'default privileges of api_owner', 'Objects that are made later must not be granted by themselves. Remove alter default privileges.'
from pg_catalog.pg_default_acl cross join lateral aclexplode(defaclacl) where defaclrole = 'api_owner'::regrole and grantee <> defaclrole
union all
select pg_describe_object(classid, objid, 0), 'It is owned by api_owner, or granted to it, outside the API schemas. Make it in a migration.'
from pg_catalog.pg_shdepend
where refobjid = 'api_owner'::regrole and deptype = 'o'
  and dbid = (select oid from pg_catalog.pg_database where datname = current_database())
  and not (classid = 'pg_namespace'::regclass and objid in (select oid from publication.served_schemas))
  and not (classid = 'pg_class'::regclass and objid in (select oid from relations))
  and not (classid = 'pg_proc'::regclass and objid in (select oid from functions))
  and not (classid = 'pg_type'::regclass and objid in (
    select pg_type.oid from pg_catalog.pg_type join publication.served_schemas on served_schemas.oid = typnamespace
  ))
  and classid <> 'pg_default_acl'::regclass
union all
select format('%I.%I.%I', schema_name, relname, attname), 'The column needs a comment: it is its text in the API''s description.'
from relations join pg_catalog.pg_attribute on attrelid = relations.oid and attnum > 0 and not attisdropped
where relkind = 'v' and coalesce(col_description(relations.oid, attnum), '') = ''
union all
select format('%I.%I', schema_name, relname), 'The view needs a comment: it is its text in the API''s description.'
from relations where relkind = 'v' and coalesce(obj_description(oid, 'pg_class'), '') = ''
union all
select signature, 'The function needs a comment that says what it is for.'
from functions where coalesce(obj_description(oid, 'pg_proc'), '') = ''
union all
select signature, 'A list that is embedded must be weighed, or one row may carry any number of others. Add: and request.take_weight(<bytes of a row>).'
from functions
where proretset and pronargs = 1 and prorows <> 1 and prosrc not like '%request.take_weight(%'
  and proargtypes[0] in (select reltype from relations)
union all
-- PostgREST's login may become api_tribal, so an invoker's function could as well. What hides it is for reviewers to see.
select signature, 'It could become another role than its caller''s: set_config (but of response.headers), set role, execute and the functions …_to_xml are not for API functions.'
from functions
where replace(pg_get_functiondef(oid), 'set_config(''response.headers''', '')
  ~* '\\mset_config\\M|\\mset\\s+(local\\s+|session\\s+)?(role|session)\\M|\\mexecute\\M|_to_xml\\M'
order by 1, 2`;

/**
 * Refuses API schemas that break a rule of this database.
 *
 * @throws DeploymentRefused with a line for each finding
 */
export async function refuseBrokenRules(client: Client): Promise<void> {
  const { rows: findings } = await client.query<{ object: string; rule: string }>(rules);
  const { rows: views } = await client.query<{ object: string; definition: string }>(
    `select pg_class.oid::regclass::text as object, pg_get_viewdef(pg_class.oid) as definition
     from publication.served_schemas
     join pg_catalog.pg_class on relnamespace = served_schemas.oid and relkind = 'v' order by 1`,
  );
  for (const { object, definition } of views) {
    const why = explainCost(definition);
    if (why !== undefined) findings.push({ object, rule: `API views are plain selects. ${why}` });
  }
  if (findings.length === 0) return;
  throw new DeploymentRefused(
    [
      "Objects of the API break the rules of this database (docs/editing-views.md):",
      ...findings.map(({ object, rule }) => `  ${object}: ${rule}`),
    ].join("\n"),
  );
}

// A single select of plain columns, as PostgreSQL writes a view down.
const plainSelect =
  /^ SELECT (\w+\.)?\w+( AS \w+)?(,\s+(\w+\.)?\w+( AS \w+)?)*\s+FROM dissemination\.\w+( \w+)?;$/;

/** Why a view that is no plain select of one table makes pages slow. */
function explainCost(definition: string): string | undefined {
  if (plainSelect.test(definition)) return undefined;
  if (/\bORDER BY\b/.test(definition)) return "This one sorts: every page would sort the whole table first.";
  if (/\bJOIN\b|\bFROM [^;]*,/.test(definition))
    return "This one joins: every skipped row of a page would be joined first. Offer the other table by embedding.";
  if (/\b(WHERE|LIMIT|OFFSET)\b/.test(definition))
    return "This one filters: every skipped row of a page would be tested first.";
  if (/\b(UNION|DISTINCT|GROUP BY|WITH|OVER)\b/.test(definition))
    return "This one does more than read one table: every page would do so for the whole table first.";
  if (!definition.includes("FROM dissemination."))
    return "This one does not read dissemination.<table>, where public and suppressed rows stand together.";
  return "This one computes a column, for each row of each page. Compute it once, in db/data_set/build.sql.";
}
