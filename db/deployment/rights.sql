-- The schemas, and what each is for: the live data set, data that is not live, the API, what migrations create, PostgreSQL, or others.
create or replace function publication.find_schemas()
returns table (oid oid, name name, kind text)
language sql stable security invoker set search_path = ''
as $$
  select
    pg_namespace.oid, pg_namespace.nspname,
    case
      when pg_namespace.nspname in ('disclosed', 'suppressed', 'dissemination') then 'data_set'
      when pg_namespace.nspname ~ '^((disclosed|suppressed)_(next|previous|dropped)|staging)$' then 'not_live'
      when pg_namespace.nspname ~ '^(admin_)?api_v[0-9]' then 'served'
      when pg_namespace.nspname in ('access', 'data_set', 'deployment', 'extensions', 'ledger', 'publication', 'request') then 'durable'
      when pg_namespace.nspname in ('pg_catalog', 'information_schema', 'pg_toast') then 'system'
      else 'other'
    end
  from pg_catalog.pg_namespace
  where pg_namespace.nspname !~ '^pg_(toast_)?temp_'
$$;

-- What the roles of this project may read, run, own and become, and the code that could run with their rights: one row for each
-- fact. db/contracts/rights.txt lists the facts that people review. The leak check (db/data_set/find_leaks.sql) compares them.
--
-- fact: one line that is the same on each server with the same rights. undo: the statement that removes it, if there is one.
-- Bodies of functions that run with their caller's rights are not among them: publication.find_bodies().
--
-- No role inherits the rights of another unless a line says so. So a role may do what is granted to it or to PUBLIC, and what it owns.
-- Left out: superusers, the deploying role, what initdb and extensions grant, and what operators keep in schemas of their own that
-- none of the roles can use. The next and previous generations of the data set belong to publisher alone.
create or replace function publication.find_rights()
returns table (fact text, undo text)
language sql stable security invoker set search_path = ''
as $$
with deployer as materialized (
  select pg_namespace.nspowner as oid from pg_catalog.pg_namespace where pg_namespace.nspname = 'deployment'
), roles as materialized (
  -- The migration that creates these roles gives them comments that begin like this.
  select pg_roles.*, pg_roles.rolname as name
  from pg_catalog.pg_roles
  where shobj_description(pg_roles.oid, 'pg_authid') like 'Single Audit API: %'
), others as materialized (
  -- Roles of operators. Superusers, and roles that may grant themselves the deploying role or all of these roles, need no grant.
  select pg_roles.oid, pg_roles.rolname as name
  from pg_catalog.pg_roles
  cross join deployer
  where pg_roles.oid not in (select roles.oid from roles) and pg_roles.oid <> deployer.oid and not pg_roles.rolsuper
    and not (pg_roles.rolcreaterole and (
      pg_has_role(pg_roles.oid, deployer.oid, 'member with admin option')
      or (select bool_and(pg_has_role(pg_roles.oid, roles.oid, 'member with admin option')) from roles)
    ))
), grantees as materialized (
  select 0::oid as oid, 'PUBLIC' as name, 'public' as sql, true as is_ours
  union all
  select roles.oid, roles.name, quote_ident(roles.name), true from roles
  union all
  select others.oid, others.name, quote_ident(others.name), false from others
), schemas as materialized (
  select
    found.oid, found.name, pg_namespace.nspowner as owner, found.kind,
    found.kind <> 'other' or exists (
      select from aclexplode(coalesce(pg_namespace.nspacl, acldefault('n', pg_namespace.nspowner))) as granted
      join grantees on grantees.oid = granted.grantee and grantees.is_ours
    ) as is_usable
  from publication.find_schemas() as found
  join pg_catalog.pg_namespace on pg_namespace.oid = found.oid
), members as materialized (
  -- No extension brings objects of the project's other schemas, so making one a member would hide it.
  select pg_depend.classid, pg_depend.objid
  from pg_catalog.pg_depend
  cross join lateral pg_identify_object(pg_depend.classid, pg_depend.objid, 0) as identified
  left join schemas on schemas.name = identified.schema
  where pg_depend.deptype = 'e' and (schemas.name is null or schemas.kind in ('system', 'other') or schemas.name = 'extensions')
), relations as materialized (
  select
    'pg_class'::regclass as classid, pg_class.*, schemas.kind, schemas.is_usable,
    format('%I.%I', schemas.name, pg_class.relname) as name
  from pg_catalog.pg_class
  join schemas on schemas.oid = pg_class.relnamespace
  where pg_class.relkind in ('r', 'p', 'v', 'm', 'f', 'S') or pg_class.relkind = 't' and pg_class.relacl is not null
), functions as materialized (
  select
    pg_proc.*, schemas.kind, schemas.is_usable, schemas.name as schema_name,
    format('%s %s', case pg_proc.prokind when 'p' then 'procedure' else 'function' end, pg_proc.oid::regprocedure) as name,
    members.objid is not null as is_of_extension
  from pg_catalog.pg_proc
  join schemas on schemas.oid = pg_proc.pronamespace
  left join members on members.classid = 'pg_proc'::regclass and members.objid = pg_proc.oid
  where pg_proc.oid >= 16384 or pg_proc.proacl is not null or pg_proc.prosecdef
), objects (classid, objid, objsubid, name, kind, is_usable, owner, acl) as (
  -- Everything on which rights can be granted. Without an acl, only the owner has rights, except on functions.
  select 'pg_namespace'::regclass, schemas.oid, 0, format('schema %I', schemas.name), schemas.kind, true, schemas.owner, pg_namespace.nspacl
  from schemas
  join pg_catalog.pg_namespace on pg_namespace.oid = schemas.oid
  union all
  select
    'pg_class'::regclass, relations.oid, 0, format('%s %s', case relations.relkind when 'S' then 'sequence' else 'table' end, relations.name),
    relations.kind, relations.is_usable, relations.relowner, relations.relacl
  from relations
  union all
  select
    'pg_class'::regclass, relations.oid, pg_attribute.attnum, format('table %s', relations.name), relations.kind,
    relations.is_usable, relations.relowner, pg_attribute.attacl
  from relations
  join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid and pg_attribute.attacl is not null
  union all
  select
    'pg_proc'::regclass, functions.oid, 0, functions.name, functions.kind,
    functions.is_usable or functions.prosecdef and not functions.is_of_extension, functions.proowner,
    coalesce(functions.proacl, acldefault('f', functions.proowner))
  from functions
  where functions.prorettype <> all (array['trigger'::regtype, 'event_trigger'::regtype])
    -- What the migration grants on these depends on the role that created the extension.
    and not (functions.is_of_extension and functions.schema_name = 'extensions')
  union all
  select 'pg_type'::regclass, pg_type.oid, 0, format('type %s', pg_type.oid::regtype), schemas.kind, schemas.is_usable, pg_type.typowner, pg_type.typacl
  from pg_catalog.pg_type
  join schemas on schemas.oid = pg_type.typnamespace
  where pg_type.typacl is not null
  union all
  select
    'pg_database'::regclass, pg_database.oid, 0, format('database %I', pg_database.datname), 'durable', true, pg_database.datdba,
    coalesce(pg_database.datacl, acldefault('d', pg_database.datdba))
  from pg_catalog.pg_database
  where pg_database.datname = current_database()
  union all
  -- In a trusted language, any role may run code.
  select
    'pg_language'::regclass, oid, 0, format('language %I', lanname), 'system', true, lanowner,
    case when oid >= 16384 and lanpltrusted then coalesce(lanacl, acldefault('l', lanowner)) else lanacl end
  from pg_catalog.pg_language
  union all
  select 'pg_tablespace'::regclass, oid, 0, format('tablespace %I', spcname), 'other', true, spcowner, spcacl from pg_catalog.pg_tablespace
  union all
  select 'pg_foreign_data_wrapper'::regclass, oid, 0, format('foreign data wrapper %I', fdwname), 'other', true, fdwowner, fdwacl
  from pg_catalog.pg_foreign_data_wrapper
  union all
  select 'pg_foreign_server'::regclass, oid, 0, format('foreign server %I', srvname), 'other', true, srvowner, srvacl
  from pg_catalog.pg_foreign_server
  union all
  select 'pg_largeobject'::regclass, oid, 0, format('large object %s', oid), 'other', true, lomowner, lomacl
  from pg_catalog.pg_largeobject_metadata
  union all
  select 'pg_parameter_acl'::regclass, oid, 0, format('parameter %I', parname), 'other', true, 10::oid, paracl from pg_catalog.pg_parameter_acl
), grants as (
  select
    format(
      '%s may %s on %s%s', grantees.name, privilege.name, regexp_replace(objects.name, '^database .*', 'database'),
      case when granted.is_grantable then ', and may grant it' end
    ) as fact,
    format('revoke %s on %s from %s cascade', privilege.name, objects.name, grantees.sql) as undo
  from objects
  cross join lateral aclexplode(objects.acl) as granted
  join grantees on grantees.oid = granted.grantee
  left join pg_catalog.pg_attribute
    on objects.classid = 'pg_class'::regclass and pg_attribute.attrelid = objects.objid and pg_attribute.attnum = nullif(objects.objsubid, 0)
  cross join lateral (select lower(granted.privilege_type) || coalesce(' (' || quote_ident(pg_attribute.attname) || ')', '')) as privilege (name)
  where granted.grantee <> objects.owner
    and case
      when grantees.oid = 0 then objects.is_usable
      when grantees.is_ours then true
      -- Operators may read what everybody may read.
      else objects.kind = 'not_live' or objects.kind = 'durable' and objects.classid <> 'pg_database'::regclass
        or objects.name ~ '^(schema|table) suppressed\M'
    end
    -- What initdb and extensions grant. They record it only where it is not the default, and not for information_schema.
    and not (
      objects.kind = 'system' and granted.grantee = 0 and objects.objid < 16384
      and objects.name ~ '^(table|schema) information_schema(\.[a-z]|$)'
    )
    -- PostgreSQL's own default, repeated beside another grant.
    and not (granted.grantee = 0 and (objects.classid = 'pg_type'::regclass or objects.classid = 'pg_language'::regclass and objects.objid < 16384))
    and not (granted.grantee = 0 and objects.kind in ('system', 'other') and exists (
      select
      from pg_catalog.pg_init_privs
      cross join lateral aclexplode(pg_init_privs.initprivs) as initial
      where (pg_init_privs.classoid, pg_init_privs.objoid, pg_init_privs.objsubid) = (objects.classid, objects.objid, objects.objsubid)
        and (initial.grantee, initial.privilege_type) = (0, granted.privilege_type)
    ))
    and not (
      objects.classid = 'pg_proc'::regclass and granted.grantee = 0
      and (objects.objid < 16384 or (objects.classid, objects.objid) in (select members.classid, members.objid from members))
      and not exists (
        select from pg_catalog.pg_init_privs where (pg_init_privs.classoid, pg_init_privs.objoid) = (objects.classid, objects.objid)
      )
    )
), owned as (
  select
    roles.name as owner, identified.type, identified.identity, schemas.kind
  from pg_catalog.pg_shdepend
  join roles on roles.oid = pg_shdepend.refobjid
  cross join lateral pg_identify_object(pg_shdepend.classid, pg_shdepend.objid, 0) as identified
  left join schemas on schemas.name = coalesce(identified.schema, case identified.type when 'schema' then identified.name end)
  where pg_shdepend.deptype = 'o' and pg_shdepend.refclassid = 'pg_authid'::regclass
    and pg_shdepend.classid <> all (array['pg_default_acl', 'pg_user_mapping']::regclass[])
    and pg_shdepend.dbid in (0, (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database()))
    and not (roles.name = 'publisher' and (coalesce(schemas.kind, '') = 'not_live' or coalesce(identified.schema, '') ~ '^pg_temp_'))
    -- Refreshes create these. PostgreSQL shows statistics only to roles that may read all columns of the table.
    and not (roles.name = 'publisher' and identified.type = 'statistics object')
    -- Other lines show these.
    and not (roles.name = 'api_owner' and coalesce(schemas.kind, '') = 'served' and identified.type in ('view', 'function', 'composite type', 'type'))
  union all
  -- Only publisher may own tables of the data set, and only api_owner may own what the API serves. The deploying role owns the rest.
  select coalesce(others.name, 'the deploying role'), identified.type, identified.identity, found.kind
  from (
    select 'pg_class'::regclass as classid, relations.oid, relations.kind, relations.relowner as owner from relations where relations.relkind <> 't'
    union all
    select 'pg_proc'::regclass, functions.oid, functions.kind, functions.proowner from functions where not functions.is_of_extension
    union all
    select 'pg_namespace'::regclass, schemas.oid, schemas.kind, schemas.owner from schemas
  ) as found
  cross join lateral pg_identify_object(found.classid, found.oid, 0) as identified
  left join others on others.oid = found.owner
  where found.kind in ('data_set', 'not_live', 'served', 'durable') and found.owner not in (select roles.oid from roles)
    and not (found.kind = 'durable' and found.owner in (select deployer.oid from deployer))
    and (found.classid, found.oid) not in (select members.classid, members.objid from members)
), memberships as (
  select
    member.name as member_name, granted.name as granted_name, pg_auth_members.set_option, pg_auth_members.inherit_option,
    pg_auth_members.admin_option
  from pg_catalog.pg_auth_members
  join pg_catalog.pg_roles as of on of.oid = pg_auth_members.roleid
  cross join lateral (select of.rolname as name) as granted
  join grantees as member on member.oid = pg_auth_members.member
  -- People may become these.
  where member.is_ours or granted.name in (select roles.name from roles where roles.name not in ('key_operator', 'deployment_planner'))
), tables as (
  select relations.*
  from relations
  where relations.kind in ('data_set', 'not_live', 'served', 'durable')
    and (relations.classid, relations.oid) not in (select members.classid, members.objid from members)
), views as materialized (
  -- In views of the data set, columns alone, and nulls in their places, are neither rights nor code, so another column changes no
  -- line. PostgreSQL prints a column in each line.
  select
    tables.name, tables.kind, tables.relkind, array_to_string(tables.reloptions, ', ') as options,
    (
      select string_agg(trim(both ' ;' from regexp_replace(printed.line, format('^ *SELECT %s,?$', plain.pattern), 'SELECT columns')), ' ' order by printed.number)
      from string_to_table(pg_get_viewdef(tables.oid), E'\n') with ordinality as printed (line, number)
      where printed.line !~ format('^    %s,?$', plain.pattern)
    ) as query
  from tables
  cross join lateral (
    select case when tables.kind <> 'durable' then '(\(NULL::disclosed\.\w+\)\.\w+|NULL::[\w ]+|(\w+\.)?\w+)( AS \w+)?' else '(?!)' end
  ) as plain (pattern)
  where tables.relkind in ('v', 'm') and tables.kind <> 'not_live'
), facts (fact, undo) as (
  select grants.fact, grants.undo from grants
  union all
  select
    format('%s owns %s %s', owned.owner, owned.type, owned.identity),
    case
      when (owned.owner, owned.kind) in (('publisher', 'data_set'), ('api_owner', 'served')) then format('drop %s %s', owned.type, owned.identity)
      else format(
        'alter %s %s owner to %s', owned.type, owned.identity,
        case when owned.kind in ('data_set', 'not_live') then 'publisher' else quote_ident(pg_get_userbyid(deployer.oid)) end
      )
    end
  from owned
  cross join deployer
  union all
  select format(kinds.text, memberships.member_name, memberships.granted_name), format(kinds.undo, memberships.member_name, memberships.granted_name)
  from memberships
  cross join lateral (
    values
      (memberships.set_option, '%s may become %s', 'revoke %2$I from %1$I'),
      (memberships.inherit_option, '%s inherits the rights of %s', 'revoke inherit option for %2$I from %1$I'),
      (memberships.admin_option, '%s may grant %s to others', 'revoke admin option for %2$I from %1$I')
  ) as kinds (is_set, text, undo)
  where kinds.is_set
  union all
  select format('%s %s', roles.name, attribute.text), format('alter role %I %s', roles.name, attribute.undo)
  from roles
  cross join lateral (
    values
      (true, 'is a role', null),
      (roles.rolcanlogin, 'may log in', 'nologin'),
      (roles.rolsuper, 'is a superuser, so no privilege and no policy applies to it', 'nosuperuser'),
      (roles.rolbypassrls, 'has bypassrls, so row-level security does not apply to it', 'nobypassrls'),
      (roles.rolreplication, 'has the attribute replication, so it can copy every table', 'noreplication'),
      (roles.rolcreaterole, 'has createrole, so it can grant itself roles', 'nocreaterole'),
      (roles.rolcreatedb, 'has createdb, so it can copy a database', 'nocreatedb')
  ) as attribute (is_set, text, undo)
  where attribute.is_set
  union all
  -- Operators set limits; these settings decide what a session may see or run.
  select
    format('%s sets %s', coalesce(roles.name, 'the database'), setting.text),
    concat(
      'alter', case when roles.oid is not null or pg_db_role_setting.setdatabase = 0 then format(' role %s', coalesce(quote_ident(roles.name), 'all')) end,
      case when roles.oid is not null and pg_db_role_setting.setdatabase <> 0 then ' in' end,
      case when pg_db_role_setting.setdatabase <> 0 then format(' database %I', current_database()) end, ' reset ', setting.name
    )
  from pg_catalog.pg_db_role_setting
  left join roles on roles.oid = pg_db_role_setting.setrole
  cross join lateral unnest(pg_db_role_setting.setconfig) as entry
  cross join lateral (select entry, split_part(entry, '=', 1)) as setting (text, name)
  where pg_db_role_setting.setdatabase in (0, (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database()))
    and (roles.oid is not null or pg_db_role_setting.setrole = 0)
    and setting.name ~ '^(role|row_security|search_path|session_authorization|session_replication_role|(local|session)_preload_libraries|pgrst\..*)$'
  union all
  select
    format(
      '%s runs as %s%s: %s', functions.name, coalesce(roles.name, others.name, 'the deploying role'),
      case when not coalesce(functions.proconfig @> array['search_path=""'], false) then ' with a search_path' end, body.hash
    ), 'drop ' || functions.name
  from functions
  left join roles on roles.oid = functions.proowner
  left join others on others.oid = functions.proowner
  cross join lateral (select left(encode(sha256(convert_to(
    concat(functions.prosrc, pg_get_function_sqlbody(functions.oid), functions.proconfig, pg_get_function_arguments(functions.oid)), 'UTF8'
  )), 'hex'), 16)) as body (hash)
  where functions.prosecdef and (functions.kind <> 'other' and functions.kind <> 'system' or functions.oid < 16384)
    and not (functions.schema_name = 'publication' and functions.proname ~ '^find_')
  union all
  select
    format('view %s%s: %s', views.name, ' (' || views.options || ')', case
      when length(views.query) < 200 then views.query else left(encode(sha256(convert_to(views.query, 'UTF8')), 'hex'), 16)
    end),
    case
      when views.relkind = 'm' then null
      when views.kind = 'data_set' and views.options is null then format('alter view %s set (security_invoker = true)', views.name)
      else format('drop view %s', views.name)
    end
  from views
  union all
  select format('row-level security on %s', tables.name), format('alter table %s disable row level security', tables.name)
  from tables where tables.relrowsecurity and tables.kind <> 'not_live'
  union all
  select format('forced row-level security on %s', tables.name), format('alter table %s no force row level security', tables.name)
  from tables where tables.relforcerowsecurity
  union all
  select
    format(
      'policy %I on %s%s for %s to %s%s%s', pg_policy.polname, tables.name, case when not pg_policy.polpermissive then ' as restrictive' end,
      case pg_policy.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
      (
        select string_agg(coalesce(quote_ident(pg_roles.rolname), 'public'), ', ' order by pg_roles.rolname)
        from unnest(pg_policy.polroles) as role
        left join pg_catalog.pg_roles on pg_roles.oid = role
      ),
      ' using (' || pg_get_expr(pg_policy.polqual, pg_policy.polrelid) || ')',
      ' with check (' || pg_get_expr(pg_policy.polwithcheck, pg_policy.polrelid) || ')'
    ),
    format('drop policy %I on %s', pg_policy.polname, tables.name)
  from tables
  join pg_catalog.pg_policy on pg_policy.polrelid = tables.oid
  -- Nobody may read what is not live, so only a policy's code matters there.
  where not (tables.kind = 'not_live' and pg_policy.polcmd = 'r' and pg_get_expr(pg_policy.polqual, pg_policy.polrelid) = 'true')
  union all
  select
    format('trigger %I on %s%s: %s', pg_trigger.tgname, tables.name, case when pg_trigger.tgenabled in ('D', 'R') then ' (disabled)' end,
      substring(pg_get_triggerdef(pg_trigger.oid) from ' ((?:BEFORE|AFTER|INSTEAD OF) .*)')),
    format('drop trigger %I on %s', pg_trigger.tgname, tables.name)
  from tables
  join pg_catalog.pg_trigger on pg_trigger.tgrelid = tables.oid and not pg_trigger.tgisinternal
  union all
  select format('rule %I on %s', pg_rewrite.rulename, tables.name), format('drop rule %I on %s', pg_rewrite.rulename, tables.name)
  from tables
  join pg_catalog.pg_rewrite on pg_rewrite.ev_class = tables.oid and pg_rewrite.rulename <> '_RETURN'
  union all
  select
    format('column %s.%I %s', tables.name, pg_attribute.attname, code.text),
    case when pg_attribute.attgenerated <> '' then format('alter table %s drop column %I', tables.name, pg_attribute.attname)
      when pg_attribute.atthasdef then format('alter table %s alter column %I drop default', tables.name, pg_attribute.attname) end
  from tables
  join pg_catalog.pg_attribute on pg_attribute.attrelid = tables.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
  left join pg_catalog.pg_attrdef on pg_attrdef.adrelid = tables.oid and pg_attrdef.adnum = pg_attribute.attnum
  left join pg_catalog.pg_type on pg_type.oid = pg_attribute.atttypid
  left join pg_catalog.pg_type as element on element.oid = pg_type.typelem
  cross join lateral (
    values
      (case when pg_attrdef.oid is not null then 'computes ' || pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid) end),
      (case when pg_attribute.atttypid >= 16384 and 'd' in (pg_type.typtype, element.typtype) then 'has the type ' || pg_attribute.atttypid::regtype end)
  ) as code (text)
  where tables.kind in ('data_set', 'not_live', 'served') and code.text is not null
  union all
  select format('%s inherits from %s', child.name, parent.name), format('alter table %s no inherit %s', child.name, parent.name)
  from pg_catalog.pg_inherits
  join relations as child on child.oid = pg_inherits.inhrelid
  join relations as parent on parent.oid = pg_inherits.inhparent
  where child.kind in ('data_set', 'not_live', 'durable') or parent.kind in ('data_set', 'not_live', 'durable')
  union all
  -- Reading a value of such a type, or a cast that a client asks for, runs code with its caller's rights.
  select
    format('type %s%s', pg_type.oid::regtype, case pg_type.typtype
      when 'e' then ' is an enumeration' when 'r' then ' is a range' when 'm' then ' is a multirange'
      when 'd' then format(' is a domain over %s%s', pg_type.typbasetype::regtype, (
        select string_agg(' ' || pg_get_constraintdef(pg_constraint.oid), '' order by pg_constraint.conname)
        from pg_catalog.pg_constraint where pg_constraint.contypid = pg_type.oid and pg_constraint.contype = 'c'
      ))
    end),
    format('drop type %s', pg_type.oid::regtype)
  from pg_catalog.pg_type
  join schemas on schemas.oid = pg_type.typnamespace and schemas.is_usable
  where pg_type.oid >= 16384 and pg_type.typtype <> 'c' and pg_type.typcategory <> 'A' and pg_type.typtype <> 'm'
    and ('pg_type'::regclass, pg_type.oid) not in (select members.classid, members.objid from members)
  union all
  select
    format('cast (%s as %s)%s', pg_cast.castsource::regtype, pg_cast.casttarget::regtype, ' with function ' || nullif(pg_cast.castfunc, 0)::regprocedure),
    format('drop cast (%s as %s)', pg_cast.castsource::regtype, pg_cast.casttarget::regtype)
  from pg_catalog.pg_cast
  where pg_cast.oid >= 16384 and not (pg_cast.castfunc = 0 and pg_cast.casttarget = to_regtype('request.whole_row')) and not exists (
    select from pg_catalog.pg_depend
    -- The cast of a range to its multirange depends on the type.
    where pg_depend.classid = 'pg_cast'::regclass and pg_depend.objid = pg_cast.oid and pg_depend.deptype in ('e', 'i')
  )
  union all
  select
    format('operator %s calls %s', pg_operator.oid::regoperator, pg_operator.oprcode), format('drop operator %s', pg_operator.oid::regoperator)
  from pg_catalog.pg_operator
  join schemas on schemas.oid = pg_operator.oprnamespace and schemas.is_usable
  where pg_operator.oid >= 16384 and ('pg_operator'::regclass, pg_operator.oid) not in (select members.classid, members.objid from members)
  union all
  select
    format('extension %I in the schema %I', pg_extension.extname, schemas.name), format('drop extension %I', pg_extension.extname)
  from pg_catalog.pg_extension
  join schemas on schemas.oid = pg_extension.extnamespace and schemas.is_usable and schemas.kind <> 'system'
  union all
  select
    format('event trigger %I: %s', pg_event_trigger.evtname, pg_event_trigger.evtfoid::regprocedure),
    format('drop event trigger %I', pg_event_trigger.evtname)
  from pg_catalog.pg_event_trigger
  where ('pg_event_trigger'::regclass, pg_event_trigger.oid) not in (select members.classid, members.objid from members)
  union all
  select format('publication %I of %s', pg_publication.pubname, published.name), format('drop publication %I', pg_publication.pubname)
  from pg_catalog.pg_publication
  cross join lateral (
    select 'all tables' where pg_publication.puballtables
    union all
    select tables.name from pg_catalog.pg_publication_rel join tables on tables.oid = pg_publication_rel.prrelid where pg_publication_rel.prpubid = pg_publication.oid
    union all
    select format('schema %s', schemas.name)
    from pg_catalog.pg_publication_namespace
    join schemas on schemas.oid = pg_publication_namespace.pnnspid and schemas.kind <> 'other'
    where pg_publication_namespace.pnpubid = pg_publication.oid
  ) as published (name)
  union all
  select format('subscription %I', pg_subscription.subname), format('drop subscription %I', pg_subscription.subname)
  from pg_catalog.pg_subscription
  where pg_subscription.subdbid = (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
  union all
  select
    format('objects that %s creates%s: %s may %s on %s', coalesce(roles.name, others.name, 'the deploying role'),
      ' in schema ' || nullif(pg_default_acl.defaclnamespace, 0)::regnamespace, grantees.name, lower(granted.privilege_type), kinds.name),
    format('alter default privileges for role %I%s revoke all on %s from %s', pg_get_userbyid(pg_default_acl.defaclrole),
      ' in schema ' || nullif(pg_default_acl.defaclnamespace, 0)::regnamespace, kinds.name, grantees.sql)
  from pg_catalog.pg_default_acl
  left join roles on roles.oid = pg_default_acl.defaclrole
  left join others on others.oid = pg_default_acl.defaclrole
  cross join lateral aclexplode(pg_default_acl.defaclacl) as granted
  join grantees on grantees.oid = granted.grantee and grantees.is_ours
  cross join lateral (
    select case pg_default_acl.defaclobjtype
      when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' when 'n' then 'schemas' else 'large objects'
    end
  ) as kinds (name)
  where granted.grantee <> pg_default_acl.defaclrole
    -- PostgreSQL's own default, repeated beside another grant.
    and not (granted.grantee = 0 and pg_default_acl.defaclobjtype in ('f', 'T') and pg_default_acl.defaclnamespace = 0)
)
select facts.fact, min(facts.undo) as undo
from facts
group by facts.fact
order by facts.fact collate "C"
$$;
