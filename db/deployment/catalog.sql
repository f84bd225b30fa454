-- Everything of this project in a database, part by part, as the catalog has it. Two answers are compared: of a database and
-- of a scratch build of the same files. Run with an empty search_path, so that names are qualified.
--
-- object: such as `table access.tiers`. part: '' for the object itself, else such as `column name`.
-- scope: api (rebuilt by each deployment), data_set (made by a publication) or durable (made by migrations).
-- definition: the statement that makes it so, where PostgreSQL can print it. removal: the one that takes it away.

with deployer as (
  select pg_namespace.nspowner as oid from pg_catalog.pg_namespace where pg_namespace.nspname = 'deployment'
), roles as (
  select pg_roles.*, quote_ident(pg_roles.rolname) as name
  from pg_catalog.pg_roles
  where pg_roles.rolname in (
    'authenticator', 'gateway', 'api_public', 'api_tribal', 'api_owner', 'report_service', 'publisher', 'key_operator',
    'deployment_planner'
  )
), names as materialized (
  select pg_roles.oid, case when pg_roles.oid = deployer.oid then 'current_user' else quote_ident(pg_roles.rolname) end as name
  from pg_catalog.pg_roles left join deployer on true
  union all
  select 0, 'public'
), schemas as materialized (
  select
    pg_namespace.*, quote_ident(pg_namespace.nspname) as identity,
    case
      when pg_namespace.nspname ~ '^(request|(admin_)?api_v[0-9]+(_[0-9]+)*)$' then 'api'
      when pg_namespace.nspname in ('disclosed', 'suppressed', 'dissemination') then 'data_set'
      else 'durable'
    end as scope
  from pg_catalog.pg_namespace
  where pg_namespace.nspname in (
    'access', 'deployment', 'publication', 'disclosed', 'suppressed', 'dissemination', 'request', 'extensions'
  )
  -- Version schemas of others are not served.
  or (pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$' and pg_get_userbyid(pg_namespace.nspowner) = 'api_owner')
), extended as materialized (
  select pg_depend.classid, pg_depend.objid from pg_catalog.pg_depend where pg_depend.deptype = 'e'
), relations as materialized (
  select
    pg_class.*, schemas.scope, format('%I.%I', schemas.nspname, pg_class.relname) as identity,
    case pg_class.relkind
      when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' when 'f' then 'foreign table'
      when 'c' then 'type' else 'table'
    end as kind
  from schemas
  join pg_catalog.pg_class on pg_class.relnamespace = schemas.oid and pg_class.relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c')
  where ('pg_class'::regclass, pg_class.oid) not in (table extended)
), columns as materialized (
  select relations.kind, relations.identity, relations.scope, relations.relkind, relations.relowner, pg_attribute.*
  from relations join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid
  where pg_attribute.attnum > 0 and not pg_attribute.attisdropped and relations.relkind <> 'S'
), routines as materialized (
  select pg_proc.*, schemas.scope, pg_proc.oid::regprocedure::text as identity
  from schemas join pg_catalog.pg_proc on pg_proc.pronamespace = schemas.oid
  where ('pg_proc'::regclass, pg_proc.oid) not in (table extended)
    -- Deployments install it themselves.
    and not (schemas.nspname = 'publication' and pg_proc.proname = 'find_leaks')
), types as materialized (
  select pg_type.*, schemas.scope, format('%I.%I', schemas.nspname, pg_type.typname) as identity
  from schemas join pg_catalog.pg_type on pg_type.typnamespace = schemas.oid and pg_type.typtype in ('d', 'e')
  where ('pg_type'::regclass, pg_type.oid) not in (table extended)
), objects (kind, identity, scope, class, oid, owner, acl, acl_kind) as materialized (
  select 'schema', identity, scope, 'pg_namespace'::regclass, oid, nspowner, nspacl, 'n'::"char" from schemas
  union all
  select kind, identity, scope, 'pg_class'::regclass, oid, relowner, relacl, case relkind when 'S' then 's'::"char" else 'r'::"char" end
  from relations where relkind <> 'c'
  union all
  select 'routine', identity, scope, 'pg_proc'::regclass, oid, proowner, proacl, 'f' from routines
  union all
  select 'type', identity, scope, 'pg_type'::regclass, oid, typowner, typacl, 'T' from types
)

select kind || ' ' || identity as object, '' as part, scope, 'create schema ' || identity as definition, null as removal
from objects where kind = 'schema'
union all
select kind || ' ' || identity, '', scope,
  case when relkind in ('v', 'm') then
    format('create %s%s %s as%s', case relkind when 'v' then 'or replace ' else '' end, kind, identity, E'\n' || pg_get_viewdef(oid))
  else kind end,
  format('drop %s %s', kind, identity)
from relations
-- That of an identity column comes with it.
where not exists (
  select from pg_catalog.pg_depend
  where classid = 'pg_class'::regclass and pg_depend.objid = relations.oid and relations.relkind = 'S' and deptype in ('i', 'a')
)
union all
select kind || ' ' || identity, 'option ' || split_part(option, '=', 1), scope, format('alter %s %s set (%s)', kind, identity, option),
  format('alter %s %s reset (%s)', kind, identity, split_part(option, '=', 1))
from relations cross join lateral unnest(reloptions) as option
union all
select kind || ' ' || identity, 'column ' || attname, scope,
  concat_ws(' ', format_type(atttypid, atttypmod), case when attidentity <> '' then 'identity' end), null
from columns
union all
select kind || ' ' || identity, 'not null of column ' || attname, scope,
  format('alter table %s alter column %I set not null', identity, attname),
  format('alter table %s alter column %I drop not null', identity, attname)
from columns where attnotnull
union all
select kind || ' ' || identity, 'default of column ' || attname, scope,
  format('alter table %s alter column %I set default %s', identity, attname, pg_get_expr(adbin, adrelid)),
  format('alter table %s alter column %I drop default', identity, attname)
from columns join pg_catalog.pg_attrdef on adrelid = attrelid and adnum = attnum
union all
select kind || ' ' || identity, 'constraint ' || conname, scope,
  format('alter table %s add constraint %I %s', identity, conname, pg_get_constraintdef(pg_constraint.oid)),
  format('alter table %s drop constraint %I', identity, conname)
from relations join pg_catalog.pg_constraint on conrelid = relations.oid
-- From PostgreSQL 18 on, not null is one of them.
where contype <> 'n'
union all
select 'type ' || identity, 'constraint ' || conname, scope,
  format('alter domain %s add constraint %I %s', identity, conname, pg_get_constraintdef(pg_constraint.oid)),
  format('alter domain %s drop constraint %I', identity, conname)
from types join pg_catalog.pg_constraint on contypid = types.oid
where contype = 'c'
union all
select kind || ' ' || identity, 'index ' || indexes.relname, scope,
  pg_get_indexdef(indexrelid) || case when indisvalid then '' else ' -- invalid' end,
  format('drop index %s', indexrelid::regclass)
from relations
join pg_catalog.pg_index on indrelid = relations.oid
join pg_catalog.pg_class as indexes on indexes.oid = indexrelid
where not exists (select from pg_catalog.pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
union all
select kind || ' ' || identity, 'trigger ' || tgname, scope,
  pg_get_triggerdef(pg_trigger.oid) || case tgenabled when 'O' then '' else ' -- enabled: ' || tgenabled::text end,
  format('drop trigger %I on %s', tgname, identity)
from relations join pg_catalog.pg_trigger on tgrelid = relations.oid
where not tgisinternal
union all
select kind || ' ' || identity, 'rule ' || rulename, scope, pg_get_ruledef(pg_rewrite.oid), format('drop rule %I on %s', rulename, identity)
from relations join pg_catalog.pg_rewrite on ev_class = relations.oid
where rulename <> '_RETURN'
union all
select kind || ' ' || identity, 'inherits from ' || inhparent::regclass, scope,
  format('alter table %s inherit %s', identity, inhparent::regclass), format('alter table %s no inherit %s', identity, inhparent::regclass)
from relations join pg_catalog.pg_inherits on inhrelid = relations.oid
union all
select kind || ' ' || identity, 'row-level security', scope,
  format('alter table %s enable row level security%s', identity, case when relforcerowsecurity then ', force row level security' else '' end),
  format('alter table %s disable row level security', identity)
from relations where relrowsecurity
union all
select kind || ' ' || identity, 'policy ' || polname, scope,
  format('create policy %I on %s as %s for %s to %s using (%s) with check (%s)', polname, identity,
    case when polpermissive then 'permissive' else 'restrictive' end,
    case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    (select string_agg(name, ', ' order by name) from names where oid = any (polroles)),
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)),
  format('drop policy %I on %s', polname, identity)
from relations join pg_catalog.pg_policy on polrelid = relations.oid
union all
select 'routine ' || identity, '', scope,
  case when prokind = 'a' then 'aggregate' else pg_get_functiondef(oid) end, 'drop routine ' || identity
from routines
union all
select 'type ' || identity, '', scope,
  case typtype when 'd' then format('create domain %s as %s', identity, format_type(typbasetype, typtypmod))
    else format('create type %s as enum (%s)', identity, (
      select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_catalog.pg_enum where enumtypid = types.oid
    )) end,
  'drop type ' || identity
from types
union all
select kind || ' ' || identity, 'owner', scope, format('alter %s %s owner to %s', kind, identity, names.name), null
from objects join names on names.oid = owner
union all
select kind || ' ' || identity, 'grant to ' || names.name, scope,
  format('grant %s on %s %s to %s', string_agg(lower(privilege_type) || case when is_grantable then ' (grantable)' else '' end, ', ' order by privilege_type),
    replace(kind, 'materialized view', 'table'), identity, names.name),
  format('revoke all on %s %s from %s', replace(kind, 'materialized view', 'table'), identity, names.name)
from objects
cross join lateral aclexplode(coalesce(acl, acldefault(acl_kind, owner))) as rights
join names on names.oid = grantee
-- What an owner has given itself, or taken from itself, it can always have back.
where grantee <> owner
group by kind, identity, scope, names.name
union all
select kind || ' ' || identity, format('grant on column %s to %s', attname, names.name), scope,
  format('grant %s (%I) on table %s to %s', string_agg(lower(privilege_type), ', ' order by privilege_type), attname, identity, names.name),
  format('revoke all (%I) on table %s from %s', attname, identity, names.name)
from columns
cross join lateral aclexplode(attacl) as rights
join names on names.oid = grantee
group by kind, identity, scope, attname, names.name
union all
select kind || ' ' || identity, 'comment', scope,
  -- publication.describe_data_set() adds which data set is live.
  format('comment on %s %s is %L', kind, identity, regexp_replace(description, '\n\nData set [0-9a-f-]{36}, published \S+$', '')),
  format('comment on %s %s is null', kind, identity)
from objects join pg_catalog.pg_description on objoid = objects.oid and classoid = objects.class and objsubid = 0
union all
select kind || ' ' || identity, 'comment on column ' || attname, scope,
  format('comment on column %s.%I is %L', identity, attname, description), format('comment on column %s.%I is null', identity, attname)
from columns join pg_catalog.pg_description on objoid = attrelid and classoid = 'pg_class'::regclass and objsubid = attnum
union all
-- Of the server: what the roles are, may become, and set.
select 'role ' || name, '', 'durable',
  format('create role %s', name) || concat(
    case when rolsuper then ' superuser' end, case when rolbypassrls then ' bypassrls' end, case when rolcreaterole then ' createrole' end,
    case when rolcreatedb then ' createdb' end, case when rolreplication then ' replication' end,
    case when rolcanlogin then ' login' end, case when not rolinherit then ' noinherit' end,
    case when rolconnlimit >= 0 then ' connection limit ' || rolconnlimit end
  ), 'drop role ' || name
from roles
union all
select 'role ' || roles.name, 'member of ' || quote_ident(granted.rolname), 'durable',
  format('grant %I to %s with inherit %s, set %s, admin %s', granted.rolname, roles.name,
    bool_or(inherit_option), bool_or(set_option), bool_or(admin_option)),
  format('revoke %I from %s', granted.rolname, roles.name)
from roles
join pg_catalog.pg_auth_members on member = roles.oid
join pg_catalog.pg_roles as granted on granted.oid = roleid
group by roles.name, granted.rolname
union all
select 'role ' || roles.name, 'setting ' || split_part(setting, '=', 1), 'durable',
  format('alter role %s set %I = %L', roles.name, split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1)),
  format('alter role %s reset %I', roles.name, split_part(setting, '=', 1))
from roles
join pg_catalog.pg_db_role_setting on setrole = roles.oid
  and setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
cross join lateral unnest(setconfig) as setting
union all
select 'database', 'grant to ' || names.name, 'durable',
  format('grant %s on database %I to %s', string_agg(lower(privilege_type), ', ' order by privilege_type), 'it', names.name), null
from pg_catalog.pg_database
cross join lateral aclexplode(coalesce(datacl, acldefault('d', datdba))) as rights
join names on names.oid = grantee
where datname = current_database() and (grantee = 0 or grantee in (select oid from roles))
group by names.name
union all
select 'database', 'default privileges on ' || defaclobjtype::text, 'durable', rights.privileges, null
from pg_catalog.pg_default_acl
join deployer on deployer.oid = defaclrole
cross join lateral (
  select string_agg(format('%s to %s', privilege_type, names.name), ', ' order by names.name, privilege_type) as privileges
  from aclexplode(defaclacl) join names on names.oid = grantee
) as rights
where defaclnamespace = 0
union all
select 'extension ' || extname, '', 'durable', format('create extension %I with schema extensions', extname), format('drop extension %I', extname)
from pg_catalog.pg_extension where extnamespace = to_regnamespace('extensions')
