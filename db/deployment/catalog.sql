-- All objects of this project in a database, as SQL: one row for each statement that makes an object what it is. Drift is the
-- difference between the rows of a database and those of a scratch database built from the same files. Run it with an empty
-- search_path, so that names are qualified.
--
-- object: such as `table access.tiers`. scope: api (rebuilt by each deployment), data_set (created by a publication) or
-- durable (created by migrations). statement: a description if PostgreSQL cannot print the SQL, such as `column name: text`.

with deployer as (
  select nspowner as oid from pg_catalog.pg_namespace where nspname = 'deployment'
), roles as (
  -- The migration that creates these roles gives them comments that begin like this.
  select pg_roles.*, quote_ident(rolname) as name
  from pg_catalog.pg_roles
  where shobj_description(pg_roles.oid, 'pg_authid') like 'Single Audit API: %'
), names as materialized (
  select pg_roles.oid, case when pg_roles.oid = deployer.oid then 'current_user' else quote_ident(rolname) end as name
  from pg_catalog.pg_roles left join deployer on true
  union all
  select 0, 'public'
), schemas as materialized (
  select
    pg_namespace.*,
    case
      when nspname ~ '^(request|(admin_)?api_v[0-9]+(_[0-9]+)*)$' then 'api'
      when nspname in ('disclosed', 'suppressed', 'dissemination') then 'data_set'
      else 'durable'
    end as scope
  from pg_catalog.pg_namespace
  where nspname in (
    'access', 'deployment', 'publication', 'disclosed', 'suppressed', 'dissemination', 'request', 'extensions'
  )
  -- Version schemas of other roles are not served.
  or (nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$' and pg_get_userbyid(nspowner) = 'api_owner')
), found as (
  select 'pg_namespace'::regclass as classid, oid, scope, nspowner as owner, coalesce(nspacl, acldefault('n', nspowner)) as acl from schemas
  union all
  select 'pg_class'::regclass, pg_class.oid, scope, relowner, coalesce(relacl, acldefault(case relkind when 'S' then 's'::"char" else 'r' end, relowner))
  from pg_catalog.pg_class join schemas on schemas.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c')
  union all
  select 'pg_proc'::regclass, pg_proc.oid, scope, proowner, coalesce(proacl, acldefault('f', proowner))
  from pg_catalog.pg_proc join schemas on schemas.oid = pronamespace
  -- Deployments install this function themselves.
  where not (nspname = 'publication' and proname = 'find_leaks')
  union all
  select 'pg_type'::regclass, pg_type.oid, scope, typowner, coalesce(typacl, acldefault('T', typowner))
  from pg_catalog.pg_type join schemas on schemas.oid = typnamespace where typtype in ('d', 'e')
), objects as materialized (
  select found.*, named.type, named.identity, named.type || ' ' || named.identity as object
  from found cross join lateral pg_identify_object(classid, oid, 0) as named
  where not exists (select from pg_catalog.pg_depend where pg_depend.classid = found.classid and objid = oid and deptype = 'e')
), relations as materialized (
  select object, scope, identity, type, pg_class.*
  from objects join pg_catalog.pg_class on pg_class.oid = objects.oid where classid = 'pg_class'::regclass
), columns as materialized (
  select object, scope, identity, type, quote_ident(attname) as column_name, pg_attribute.*
  from relations join pg_catalog.pg_attribute on attrelid = relations.oid
  where attnum > 0 and not attisdropped and relkind <> 'S'
), creations (object, scope, statement) as (
  -- What creates each object. The rest is added by the statements below.
  select object, scope, coalesce(
      (select format('create %s %s as', case relkind when 'v' then 'or replace view' else 'materialized view' end, identity)
        || E'\n' || pg_get_viewdef(oid) from pg_catalog.pg_class where pg_class.oid = objects.oid and relkind in ('v', 'm')),
      (select pg_get_functiondef(oid) from pg_catalog.pg_proc where pg_proc.oid = objects.oid and prokind <> 'a'),
      (select format('create domain %s as %s', identity, format_type(typbasetype, typtypmod))
        from pg_catalog.pg_type where pg_type.oid = objects.oid and typtype = 'd'),
      case when type = 'table' then format('create table %s ()', identity) end,
      object
    ) as statement
  from objects
  -- PostgreSQL creates a column's own sequence with the column.
  where not exists (
    select from pg_catalog.pg_depend where pg_depend.classid = objects.classid and objid = oid and deptype in ('i', 'a') and type = 'sequence'
  )
), owners (object, scope, statement) as (
  -- alter … owner to …
  select object, scope, format('alter %s %s owner to %s', type, identity, names.name) from objects join names on names.oid = owner
), grants (object, scope, statement) as (
  -- grant … on …. An owner can always restore its own privileges.
  select object, scope, format('grant %s on %s %s to %s%s', string_agg(lower(privilege_type), ', ' order by privilege_type),
    regexp_replace(type, '^(materialized )?view$', 'table'), identity, names.name, case when is_grantable then ' with grant option' end)
  from objects cross join lateral aclexplode(acl) as rights join names on names.oid = grantee
  where grantee <> owner
  group by object, scope, type, identity, names.name, is_grantable
), comments (object, scope, statement) as (
  -- comment on an object, or on one of its columns.
  select object, scope, format('comment on %s is %L', subject,
    -- publication.describe_data_set() adds which data set is live.
    regexp_replace(description, '\n\nData set [0-9a-f-]{36}, published \S+$', ''))
  from objects
  join pg_catalog.pg_description on objoid = oid and classoid = classid
  cross join lateral pg_identify_object(classoid, objoid, objsubid) as named
  cross join lateral concat(regexp_replace(named.type, '^.* (?=column)', ''), ' ', named.identity) as subject
), options (object, scope, statement) as (
  -- Storage parameters and view options.
  select object, scope, format('alter %s %s set (%s)', type, identity, option) from relations cross join lateral unnest(reloptions) as option
), columns_of_relations (object, scope, statement) as (
  -- alter table … add column …; a description for views and types.
  select object, scope, case when type = 'table'
      then format('alter table %s add column %s %s%s', identity, column_name, format_type(atttypid, atttypmod),
        case attidentity when 'a' then ' generated always as identity' when 'd' then ' generated by default as identity' end)
      else format('column %s: %s', column_name, format_type(atttypid, atttypmod))
    end
  from columns
), required_columns (object, scope, statement) as (
  -- alter column … set not null.
  select object, scope, format('alter table %s alter column %s set not null', identity, column_name) from columns where attnotnull
), defaults (object, scope, statement) as (
  -- alter column … set default ….
  select object, scope, format('alter table %s alter column %s set default %s', identity, column_name, pg_get_expr(adbin, adrelid))
  from columns join pg_catalog.pg_attrdef on adrelid = attrelid and adnum = attnum
), grants_on_columns (object, scope, statement) as (
  -- grant … (column) on table ….
  select object, scope, format('grant %s (%s) on table %s to %s', lower(privilege_type), column_name, identity, names.name)
  from columns cross join lateral aclexplode(attacl) as rights join names on names.oid = grantee
), constraints (object, scope, statement) as (
  -- Constraints of tables and domains. Since PostgreSQL 18, not null is one; required_columns has it.
  select object, scope, format('alter %s %s add constraint %I %s', replace(type, 'type', 'domain'), identity, conname, pg_get_constraintdef(pg_constraint.oid))
  from objects join pg_catalog.pg_constraint on objects.oid in (conrelid, contypid)
  where contype <> 'n'
), indexes (object, scope, statement) as (
  -- Indexes that belong to no constraint, and whether they are valid.
  select object, scope, pg_get_indexdef(indexrelid) || case when indisvalid then '' else ' -- invalid' end
  from relations join pg_catalog.pg_index on indrelid = oid
  where not exists (select from pg_catalog.pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
), triggers (object, scope, statement) as (
  -- Triggers, and whether they are enabled.
  select object, scope, pg_get_triggerdef(pg_trigger.oid) || case tgenabled when 'O' then '' else ' -- enabled: ' || tgenabled::text end
  from relations join pg_catalog.pg_trigger on tgrelid = relations.oid where not tgisinternal
), rules (object, scope, statement) as (
  -- Rules, except those that make views.
  select object, scope, pg_get_ruledef(pg_rewrite.oid) from relations join pg_catalog.pg_rewrite on ev_class = relations.oid where rulename <> '_RETURN'
), parents (object, scope, statement) as (
  -- Inheritance.
  select object, scope, format('alter table %s inherit %s', identity, inhparent::regclass) from relations join pg_catalog.pg_inherits on inhrelid = oid
), row_security (object, scope, statement) as (
  -- enable and force row level security.
  select object, scope, format('alter table %s %s row level security', identity, action)
  from relations cross join lateral unnest(array[case when relrowsecurity then 'enable' end, case when relforcerowsecurity then 'force' end]) as action
  where action is not null
), policies (object, scope, statement) as (
  -- Policies.
  select object, scope, format('create policy %I on %s as %s for %s to %s using (%s) with check (%s)', polname, identity,
    case when polpermissive then 'permissive' else 'restrictive' end,
    case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    (select string_agg(name, ', ' order by name) from names where oid = any (polroles)),
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
  from relations join pg_catalog.pg_policy on polrelid = relations.oid
), role_attributes (object, scope, statement) as (
  -- Roles belong to the server: what each may do there.
  select 'role ' || name, 'durable', concat('create role ', name,
    case when rolsuper then ' superuser' end, case when rolbypassrls then ' bypassrls' end, case when rolcreaterole then ' createrole' end,
    case when rolcreatedb then ' createdb' end, case when rolreplication then ' replication' end,
    case when rolcanlogin then ' login' end, case when not rolinherit then ' noinherit' end,
    case when rolconnlimit >= 0 then ' connection limit ' || rolconnlimit end)
  from roles
), memberships (object, scope, statement) as (
  -- Which roles a role may switch to or inherit from.
  select 'role ' || roles.name, 'durable', format('grant %I to %s with inherit %s, set %s, admin %s', granted.rolname, roles.name,
    bool_or(inherit_option), bool_or(set_option), bool_or(admin_option))
  from roles join pg_catalog.pg_auth_members on member = roles.oid
  join pg_catalog.pg_roles as granted on granted.oid = roleid
  group by roles.name, granted.rolname
), role_settings (object, scope, statement) as (
  -- alter role … set ….
  select 'role ' || roles.name, 'durable',
    format('alter role %s set %I = %L', roles.name, split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1))
  from roles join pg_catalog.pg_db_role_setting on setrole = roles.oid
    and setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
  cross join lateral unnest(setconfig) as setting
), database_privileges (object, scope, statement) as (
  -- Privileges on this database, of these roles and of everyone.
  select 'database', 'durable', format('privilege %s of %s', lower(privilege_type), names.name)
  from pg_catalog.pg_database
  cross join lateral aclexplode(coalesce(datacl, acldefault('d', datdba))) as rights
  join names on names.oid = grantee
  where datname = current_database() and (grantee = 0 or grantee in (select oid from roles))
), extensions (object, scope, statement) as (
  -- Extensions of this project.
  select 'extension ' || extname, 'durable', format('create extension %I with schema extensions', extname)
  from pg_catalog.pg_extension where extnamespace = to_regnamespace('extensions')
)
table creations
union all
table owners
union all
table grants
union all
table comments
union all
table options
union all
table columns_of_relations
union all
table required_columns
union all
table defaults
union all
table grants_on_columns
union all
table constraints
union all
table indexes
union all
table triggers
union all
table rules
union all
table parents
union all
table row_security
union all
table policies
union all
table role_attributes
union all
table memberships
union all
table role_settings
union all
table database_privileges
union all
table extensions
