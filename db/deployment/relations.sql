-- What stands inside the relations of the project: columns, and what guards and serves them, part by part, as the catalogue has it: what defines the part, the statement that
-- makes it so, and the one that takes it away. A deployment writes the answers down together with these queries, and
-- the next one compares. Run with an empty search_path, so that names are qualified.
--
-- object: what it is a part of, such as `table access.tiers`. part: '' for the object itself, else such as `column name`.
-- scope: api, data_set or durable. repair is null where no statement can bring back what is gone.

with schemas as materialized (
  select
    pg_namespace.oid, pg_namespace.nspname, pg_namespace.nspowner, pg_namespace.nspacl,
    case
      when pg_namespace.nspname ~ '^(request|(admin_)?api_v[0-9]+(_[0-9]+)*)$' then 'api'
      when pg_namespace.nspname in ('disclosed', 'suppressed', 'dissemination') then 'data_set'
      else 'durable'
    end as scope
  from pg_catalog.pg_namespace
  where pg_namespace.nspname in (
    'access', 'deployment', 'publication', 'disclosed', 'suppressed', 'dissemination', 'request', 'extensions', 'public'
  )
  -- A version schema that somebody else has made is not served.
  or (
    pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$'
    and pg_namespace.nspowner = (
      select request.nspowner from pg_catalog.pg_namespace as request where request.nspname = 'request'
    )
  )
),

members as materialized (
  select pg_depend.classid, pg_depend.objid
  from pg_catalog.pg_depend
  where pg_depend.deptype = 'e'
),

relations as materialized (
  select
    pg_class.*, schemas.scope,
    format('%I.%I', schemas.nspname, pg_class.relname) as identity,
    case pg_class.relkind
      when 'v' then 'view'
      when 'm' then 'materialized view'
      when 'S' then 'sequence'
      when 'f' then 'foreign table'
      else 'table'
    end as kind
  from schemas
  join pg_catalog.pg_class on pg_class.relnamespace = schemas.oid and pg_class.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  where not exists (
    select from members where members.classid = 'pg_catalog.pg_class'::regclass and members.objid = pg_class.oid
  )
)

-- Options, columns, and what guards a table.
select
  relations.kind || ' ' || relations.identity as object, 'option ' || split_part(relation_option, '=', 1) as part,
  relations.scope, substr(relation_option, strpos(relation_option, '=') + 1) as definition,
  format('alter %s %s set (%s)', relations.kind, relations.identity, relation_option) as repair,
  format('alter %s %s reset (%s)', relations.kind, relations.identity, split_part(relation_option, '=', 1)) as removal
from relations
cross join lateral unnest(relations.reloptions) as relation_option
union all
select
  relations.kind || ' ' || relations.identity, 'column ' || pg_attribute.attname, relations.scope,
  concat_ws(
    ' ', format_type(pg_attribute.atttypid, pg_attribute.atttypmod),
    case when pg_attribute.attnotnull then 'not null' end,
    case when pg_attribute.attidentity <> '' then 'identity' end,
    'default ' || pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid)
  ),
  case
    when relations.relkind in ('r', 'p') and pg_attribute.attidentity = '' then format(
      'alter table %1$s alter column %2$I type %3$s, alter column %2$I %4$s not null, alter column %2$I %5$s',
      relations.identity, pg_attribute.attname, format_type(pg_attribute.atttypid, pg_attribute.atttypmod),
      case when pg_attribute.attnotnull then 'set' else 'drop' end,
      coalesce('set default ' || pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid), 'drop default')
    )
  -- A view's come with it.
    when relations.relkind = 'v' then ''
  end,
  null
from relations
join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid
  and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
left join pg_catalog.pg_attrdef on pg_attrdef.adrelid = relations.oid and pg_attrdef.adnum = pg_attribute.attnum
where relations.relkind <> 'S'
union all
select
  'table ' || relations.identity, 'row level security', relations.scope,
  case when relations.relrowsecurity then 'on' else 'off' end
    || case when relations.relforcerowsecurity then ', forced' else '' end,
  format(
    'alter table %s %s row level security, %s row level security', relations.identity,
    case when relations.relrowsecurity then 'enable' else 'disable' end,
    case when relations.relforcerowsecurity then 'force' else 'no force' end
  ),
  null
from relations where relations.relkind in ('r', 'p')
union all
select
  'table ' || relations.identity, 'policy ' || pg_policy.polname, relations.scope, policy.text,
  format('create policy %I on %s %s', pg_policy.polname, relations.identity, policy.text),
  format('drop policy if exists %I on %s', pg_policy.polname, relations.identity)
from relations
join pg_catalog.pg_policy on pg_policy.polrelid = relations.oid
cross join lateral (
  select concat_ws(
    ' ', case when not pg_policy.polpermissive then 'as restrictive' end,
    'for ' || case pg_policy.polcmd
      when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all'
    end,
    'to ' || (
      select string_agg(case grantee when 0 then 'public' else grantee::regrole::text end, ', ' order by grantee)
      from unnest(pg_policy.polroles) as grantee
    ),
    'using (' || pg_get_expr(pg_policy.polqual, pg_policy.polrelid) || ')',
    'with check (' || pg_get_expr(pg_policy.polwithcheck, pg_policy.polrelid) || ')'
  ) as text
) as policy
union all
-- Rows of a table are read with those of the one that it inherits from, past its own policies.
select
  'table ' || relations.identity, 'child ' || pg_inherits.inhrelid::regclass, relations.scope, '',
  format('alter table %s inherit %s', pg_inherits.inhrelid::regclass, relations.identity),
  format('alter table %s no inherit %s', pg_inherits.inhrelid::regclass, relations.identity)
from relations
join pg_catalog.pg_inherits on pg_inherits.inhparent = relations.oid
where relations.relkind = 'r'
union all
select
  'table ' || relations.identity, 'constraint ' || pg_constraint.conname, relations.scope,
  pg_get_constraintdef(pg_constraint.oid) || case when exists (
    select from pg_catalog.pg_trigger where pg_trigger.tgconstraint = pg_constraint.oid and pg_trigger.tgenabled <> 'O'
  ) then ' (disabled)' else '' end,
  format('alter table %s add constraint %I %s', relations.identity, pg_constraint.conname, pg_get_constraintdef(pg_constraint.oid)),
  format('alter table %s drop constraint if exists %I cascade', relations.identity, pg_constraint.conname)
from relations
join pg_catalog.pg_constraint on pg_constraint.conrelid = relations.oid
where pg_constraint.contype in ('c', 'f', 'p', 'u', 'x')
union all
select
  relations.kind || ' ' || relations.identity, 'index ' || pg_class.relname, relations.scope,
  pg_get_indexdef(pg_class.oid) || case when pg_index.indisvalid then '' else ' (invalid)' end,
  case when pg_index.indisvalid then pg_get_indexdef(pg_class.oid) end,
  format('drop index if exists %s', pg_class.oid::regclass)
from relations
join pg_catalog.pg_index on pg_index.indrelid = relations.oid
join pg_catalog.pg_class on pg_class.oid = pg_index.indexrelid
where not exists (select from pg_catalog.pg_constraint where pg_constraint.conindid = pg_class.oid)
union all
select
  relations.kind || ' ' || relations.identity, 'trigger ' || pg_trigger.tgname, relations.scope,
  pg_get_triggerdef(pg_trigger.oid) || case pg_trigger.tgenabled when 'O' then '' else format(' (%s)', pg_trigger.tgenabled) end,
  pg_get_triggerdef(pg_trigger.oid),
  format('drop trigger if exists %I on %s', pg_trigger.tgname, relations.identity)
from relations
join pg_catalog.pg_trigger on pg_trigger.tgrelid = relations.oid and not pg_trigger.tgisinternal
union all
select
  relations.kind || ' ' || relations.identity, 'rule ' || pg_rewrite.rulename, relations.scope,
  pg_get_ruledef(pg_rewrite.oid), pg_get_ruledef(pg_rewrite.oid),
  format('drop rule if exists %I on %s', pg_rewrite.rulename, relations.identity)
from relations
join pg_catalog.pg_rewrite on pg_rewrite.ev_class = relations.oid and pg_rewrite.rulename <> '_RETURN'
union all
select
  relations.kind || ' ' || relations.identity,
  format('grant on %s to %s', pg_attribute.attname, case rights.grantee when 0 then 'public' else pg_get_userbyid(rights.grantee)::text end),
  relations.scope, string_agg(lower(rights.privilege_type), ', ' order by rights.privilege_type),
  format(
    'grant %s on %s to %s',
    string_agg(format('%s (%I)', rights.privilege_type, pg_attribute.attname), ', ' order by rights.privilege_type),
    relations.identity, case rights.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(rights.grantee)) end
  ),
  format(
    'revoke all (%I) on %s from %s', pg_attribute.attname, relations.identity,
    case rights.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(rights.grantee)) end
  )
from relations
join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid and pg_attribute.attacl is not null
cross join lateral aclexplode(pg_attribute.attacl) as rights
group by relations.kind, relations.identity, relations.scope, pg_attribute.attname, rights.grantee
union all
select
  relations.kind || ' ' || relations.identity, 'comment on ' || pg_attribute.attname, relations.scope,
  pg_description.description,
  format('comment on column %s.%I is %L', relations.identity, pg_attribute.attname, pg_description.description),
  format('comment on column %s.%I is null', relations.identity, pg_attribute.attname)
from relations
join pg_catalog.pg_description on pg_description.objoid = relations.oid
  and pg_description.classoid = 'pg_catalog.pg_class'::regclass and pg_description.objsubid > 0
join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid and pg_attribute.attnum = pg_description.objsubid
