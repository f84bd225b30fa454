import type { Client } from "pg";

/** A rule of the house that an object breaks. */
export interface RuleFinding {
  object: string;
  rule: string;
  why: string;
}

// The few schemas of the house, so that PostgreSQL's own thousands of functions are never looked at.
const schemas = `
with house as materialized (
  select oid, nspname, nspname ~ '^(admin_)?api_v[0-9]' as is_api from pg_namespace
  where nspname ~ '^(admin_)?api_v[0-9]|^(request|access|deployment|publication|disclosed|suppressed|dissemination)$'
    -- What somebody else made is not served: see request.pre_config().
    and (nspname !~ 'api_v[0-9]' or nspowner = (select nspowner from pg_namespace where nspname = 'request'))
), relations as materialized (
  select house.nspname, house.is_api, c.* from house join pg_class c on c.relnamespace = house.oid
), functions as materialized (
  select house.nspname, house.is_api, p.*,
    p.oid::regprocedure::text as signature
  from house join pg_proc p on p.pronamespace = house.oid
)`;

const sql = `${schemas}
select format('%s.%s', nspname, relname) as object, 'views are security_invoker' as rule,
  'Without it a view reads with its owner''s rights, past row-level security.' as why
from relations
where relkind = 'v' and (is_api or nspname = 'dissemination')
  and not coalesce(reloptions && array['security_invoker=true', 'security_invoker=on'], false)
union all
select format('%s.%s.%s', nspname, relname, attname), 'columns have a comment',
  'It is the column''s text in the OpenAPI description.'
from relations join pg_attribute on attrelid = relations.oid and attnum > 0 and not attisdropped
where relkind = 'v' and is_api and coalesce(col_description(relations.oid, attnum), '') = ''
union all
select format('%s.%s', nspname, relname), 'views have a comment',
  'It is the table''s text in the OpenAPI description.'
from relations
where relkind = 'v' and is_api and coalesce(obj_description(oid, 'pg_class'), '') = ''
union all
select signature, 'functions have a comment', 'It says what the function is for.'
from functions
where coalesce(obj_description(oid, 'pg_proc'), '') = ''
union all
select format('%s.%s', nspname, relname), 'API schemas hold views only',
  'A table in them is in no data set, and no row-level security guards it.'
from relations
where is_api and relkind in ('r', 'm', 'p', 'f')
union all
select format('%s.%s', nspname, relname), 'row-level security guards each table of suppressed',
  'Without it every key reads suppressed submissions.'
from relations
where nspname = 'suppressed' and relkind in ('r', 'p') and not relrowsecurity
union all
select signature, 'functions pin search_path',
  'Whoever runs it could put other tables in place of its own. Add: set search_path = ''''.'
from functions join pg_language on pg_language.oid = prolang
where not coalesce(proconfig @> array['search_path=""'], false)
  -- An aggregate has no body, and no setting.
  and prokind <> 'a'
  -- It sets the path for what PostgREST runs after it.
  and signature <> 'request.authorize()'
  -- Relationships must be inlined, which a pinned path forbids; they run with the caller's rights on qualified names.
  and (prosecdef or not (is_api and lanname = 'sql' and pronargs = 1 and proretset))
union all
select signature, 'lists that are embedded are weighed',
  'Without it one row may carry any number of others. Add: and request.take_weight(<bytes of a row>).'
from functions
where is_api and proretset and pronargs = 1 and prorows <> 1 and prosrc not like '%request.take_weight(%'
union all
select signature, 'nothing is executable by public', 'Grant it to the roles that need it.'
from functions, aclexplode(coalesce(proacl, acldefault('f', proowner)))
where grantee = 0
union all
select format('%s.%s', nspname, relname), 'nothing is granted to public', 'Grant it to the roles that need it.'
from relations, aclexplode(relacl)
where grantee = 0
union all
select format('%s.%s', nspname, relname), 'the API is read-only',
  format('%s may %s it.', grantee::regrole, lower(privilege_type))
from relations, aclexplode(relacl)
where is_api and grantee <> relowner and privilege_type <> 'SELECT'
order by 1, 2`;

const viewsSql = `${schemas}
select format('%s.%s', nspname, relname) as object, pg_get_viewdef(oid) as definition
from relations where relkind = 'v' and is_api order by 1`;

/** The rules of the house that objects of this database break, read from its catalogue. */
export async function checkRules(client: Client): Promise<RuleFinding[]> {
  const { rows: findings } = await client.query<RuleFinding>(sql);
  const { rows: views } = await client.query<{ object: string; definition: string }>(viewsSql);
  for (const { object, definition } of views) {
    const why = explainCost(definition);
    if (why !== undefined) findings.push({ object, rule: "API views are plain selects", why });
  }
  return findings;
}

// A single select of plain columns, as PostgreSQL writes a view down.
const plainSelect =
  /^ SELECT (\w+\.)?\w+( AS \w+)?(,\s+(\w+\.)?\w+( AS \w+)?)*\s+FROM dissemination\.\w+( \w+)?;$/;

/** Why a view that is no plain select of one table makes pages slow. */
function explainCost(definition: string): string | undefined {
  if (plainSelect.test(definition)) return undefined;
  if (/\bORDER BY\b/.test(definition)) return "It sorts: every page would sort the whole table first.";
  if (/\bJOIN\b|\bFROM [^;]*,/.test(definition))
    return "It joins: every skipped row of a page would be joined first. Offer the other table by embedding.";
  if (/\b(WHERE|LIMIT|OFFSET)\b/.test(definition))
    return "It filters: every skipped row of a page would be tested first.";
  if (/\b(UNION|DISTINCT|GROUP BY|WITH|OVER)\b/.test(definition))
    return "It does more than read one table: every page would do that for the whole table first.";
  if (!definition.includes("FROM dissemination."))
    return "It does not read dissemination.<table>: only there stand public and suppressed rows together.";
  return "It computes a column: a function call or a cast per row. Compute it once, in db/data_set/build.sql.";
}

export function describeRuleFinding({ object, rule, why }: RuleFinding): string {
  return `${object}: ${rule}. ${why}`;
}
