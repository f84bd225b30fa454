-- The project's roles and what the whole database grants, part by part, as the catalogue has it: what defines the part, the statement that
-- makes it so, and the one that takes it away. A deployment writes the answers down together with these queries, and
-- the next one compares. Run with an empty search_path, so that names are qualified.
--
-- object: what it is a part of, such as `table access.tiers`. part: '' for the object itself, else such as `column name`.
-- scope: api, data_set or durable. repair is null where no statement can bring back what is gone.

with roles as (
  select pg_roles.*
  from pg_catalog.pg_roles
  where pg_roles.rolname in (
    'authenticator', 'gateway', 'api_public', 'api_tribal', 'report_service', 'publisher', 'key_operator',
    'deployment_planner'
  )
)

-- Roles: what they are, may become, and set. A role is of the whole server.
select
  'role ' || roles.rolname as object, '' as part, 'durable' as scope, '' as definition,
  format('create role %I', roles.rolname) as repair, null as removal
from roles
union all
select
  'role ' || roles.rolname, attributes.name, 'durable', case when attributes.is_on then 'yes' else 'no' end,
  format('alter role %I %s%s', roles.rolname, case when attributes.is_on then '' else 'no' end, attributes.name), null
from roles
cross join lateral (
  values
    ('superuser', roles.rolsuper), ('bypassrls', roles.rolbypassrls), ('createrole', roles.rolcreaterole),
    ('createdb', roles.rolcreatedb), ('replication', roles.rolreplication), ('login', roles.rolcanlogin),
    ('inherit', roles.rolinherit)
) as attributes (name, is_on)
union all
select
  'role ' || roles.rolname, 'may become ' || granted.rolname, 'durable',
  -- Whoever granted it: another database of the server may have been deployed by somebody else.
  format(
    'inherit %s, set %s, admin %s', bool_or(pg_auth_members.inherit_option), bool_or(pg_auth_members.set_option),
    bool_or(pg_auth_members.admin_option)
  ),
  format(
    'grant %I to %I with inherit %s, set %s, admin %s', granted.rolname, roles.rolname,
    bool_or(pg_auth_members.inherit_option)::text, bool_or(pg_auth_members.set_option)::text,
    bool_or(pg_auth_members.admin_option)::text
  ),
  string_agg(
    format('revoke %I from %I granted by %I', granted.rolname, roles.rolname, pg_get_userbyid(pg_auth_members.grantor)),
    '; ' order by pg_auth_members.oid
  )
from roles
join pg_catalog.pg_auth_members on pg_auth_members.member = roles.oid
join pg_catalog.pg_roles as granted on granted.oid = pg_auth_members.roleid
group by roles.rolname, granted.rolname
union all
select
  'role ' || roles.rolname,
  'setting ' || split_part(setting, '=', 1)
    || case when pg_db_role_setting.setdatabase = 0 then '' else ' in this database' end,
  'durable', substr(setting, strpos(setting, '=') + 1),
  format(
    'alter role %I %s set %I = %L', roles.rolname,
    case when pg_db_role_setting.setdatabase = 0 then '' else format('in database %I', current_database()) end,
    split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1)
  ),
  format(
    'alter role %I %s reset %I', roles.rolname,
    case when pg_db_role_setting.setdatabase = 0 then '' else format('in database %I', current_database()) end,
    split_part(setting, '=', 1)
  )
from roles
join pg_catalog.pg_db_role_setting on pg_db_role_setting.setrole = roles.oid
  and pg_db_role_setting.setdatabase in (
    0, (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
  )
cross join lateral unnest(pg_db_role_setting.setconfig) as setting
union all
select
  'role ' || roles.rolname, 'connection limit', 'durable', roles.rolconnlimit::text,
  format('alter role %I connection limit %s', roles.rolname, roles.rolconnlimit), null
from roles
union all
select
  'role ' || roles.rolname, 'valid until', 'durable', coalesce((nullif(roles.rolvaliduntil, 'infinity') at time zone 'UTC')::text || ' UTC', 'infinity'),
  format('alter role %I valid until %L', roles.rolname, coalesce((nullif(roles.rolvaliduntil, 'infinity') at time zone 'UTC')::text || ' UTC', 'infinity')), null
from roles
union all
-- Of other roles, who deploys has given itself what it needs, and two are made to be given to people.
select
  'role ' || member.rolname || ', which is not of this project', 'may become ' || roles.rolname, 'durable', '', '',
  format('revoke %I from %I granted by %I', roles.rolname, member.rolname, pg_get_userbyid(pg_auth_members.grantor))
from roles
join pg_catalog.pg_auth_members on pg_auth_members.roleid = roles.oid
join pg_catalog.pg_roles as member on member.oid = pg_auth_members.member
where not exists (select from roles as own where own.oid = member.oid)
  and not member.rolcreaterole and not member.rolsuper
  and roles.rolname not in ('deployment_planner', 'key_operator')
union all

-- Settings of the database, rights on it, and those that new objects get.
select
  'database', 'setting ' || split_part(setting, '=', 1), 'durable', substr(setting, strpos(setting, '=') + 1),
  format(
    'alter database %I set %I = %L', current_database(), split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1)
  ),
  -- Its administrator's: named, and left alone.
  null
from pg_catalog.pg_db_role_setting
join pg_catalog.pg_database on pg_database.oid = pg_db_role_setting.setdatabase
cross join lateral unnest(pg_db_role_setting.setconfig) as setting
where pg_db_role_setting.setrole = 0 and pg_database.datname = current_database()
union all
select
  'database', 'grant to ' || coalesce(pg_roles.rolname, 'public'), 'durable',
  string_agg(rights.privilege_type, ', ' order by rights.privilege_type),
  format(
    'grant %s on database %I to %s', string_agg(rights.privilege_type, ', ' order by rights.privilege_type),
    current_database(), coalesce(quote_ident(pg_roles.rolname), 'public')
  ),
  format('revoke all on database %I from %s', current_database(), coalesce(quote_ident(pg_roles.rolname), 'public'))
from pg_catalog.pg_database
cross join lateral aclexplode(coalesce(pg_database.datacl, acldefault('d', pg_database.datdba))) as rights
left join pg_catalog.pg_roles on pg_roles.oid = rights.grantee
where pg_database.datname = current_database() and rights.grantee <> pg_database.datdba
  and (rights.grantee = 0 or rights.grantee in (select roles.oid from roles))
group by pg_roles.rolname
union all
select
  'default privileges', format('of objects of kind %s', pg_default_acl.defaclobjtype), 'durable',
  replace(pg_default_acl.defaclacl::text, owner.rolname, 'who deploys'),
  case pg_default_acl.defaclobjtype when 'f' then 'alter default privileges revoke all on functions from public' end, null
from pg_catalog.pg_default_acl
join pg_catalog.pg_roles as owner on owner.oid = pg_default_acl.defaclrole
where owner.oid = (select pg_namespace.nspowner from pg_catalog.pg_namespace where pg_namespace.nspname = 'deployment') and pg_default_acl.defaclnamespace = 0
union all

select
  'extension ' || pg_extension.extname, '', 'durable', '',
  format('create extension %I with schema %I', pg_extension.extname, pg_namespace.nspname), null
from pg_catalog.pg_extension
join pg_catalog.pg_namespace on pg_namespace.oid = pg_extension.extnamespace
where pg_namespace.nspname = 'extensions'
