-- The shapes of all objects of this project in a database, as SQL: one row for each statement that makes an object what it is.
-- Drift is the difference between the rows of a database and those of a scratch database built from the same files. Who owns an
-- object and who may use it are rights (rights.sql). Run it with an empty search_path, so that names are qualified.
--
-- object: such as `table access.tiers`. scope: api (rebuilt by each deployment), durable (created by migrations), or outside
-- (objects in the schema public and settings of the database, which affect every role and which deployments do not change). statement:
-- a description if PostgreSQL cannot print the SQL, such as `column name: text`.
-- place: null for a description; otherwise 0 creates the object, 1 adds a column, 2 comes after both. undo: the statement that
-- undoes it, if there is one.

with roles as (
  -- The migration that creates these roles gives them comments that begin like this.
  select pg_roles.oid, quote_ident(rolname) as name
  from pg_catalog.pg_roles
  where shobj_description(pg_roles.oid, 'pg_authid') like 'Single Audit API: %'
), schemas as materialized (
  select
    pg_namespace.*,
    case
      when nspname = 'public' then 'outside'
      when kind = 'served' or nspname in ('request', 'dissemination') then 'api'
      else 'durable'
    end as scope
  from publication.find_schemas() as known
  join pg_catalog.pg_namespace on pg_namespace.oid = known.oid
  -- Version schemas of other roles are not served.
  where kind in ('data_set', 'durable') or nspname = 'public' or known.oid in (select served_schemas.oid from publication.served_schemas)
), found as (
  select 'pg_namespace'::regclass as classid, oid, scope from schemas
  union all
  select 'pg_class'::regclass, pg_class.oid, scope
  from pg_catalog.pg_class join schemas on schemas.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c')
  union all
  -- Each deployment replaces the functions of every schema.
  select 'pg_proc'::regclass, pg_proc.oid, case scope when 'outside' then scope else 'api' end
  from pg_catalog.pg_proc join schemas on schemas.oid = pronamespace
  -- Deployments install the leak check themselves.
  where not (nspname = 'publication' and proname ~ '^find_')
  union all
  select 'pg_type'::regclass, pg_type.oid, scope
  from pg_catalog.pg_type join schemas on schemas.oid = typnamespace where typtype in ('d', 'e')
  union all
  -- Operators, ranges, text search configurations and all other objects in a schema depend on it. Refreshes create statistics.
  select pg_depend.classid, objid, scope
  from pg_catalog.pg_depend
  join schemas on refclassid = 'pg_namespace'::regclass and refobjid = schemas.oid and deptype = 'n'
  left join pg_catalog.pg_type on pg_depend.classid = 'pg_type'::regclass and pg_type.oid = objid
  where pg_depend.classid <> all (array['pg_class', 'pg_proc']::regclass[]) and coalesce(typtype, 'b') in ('b', 'r')
    and not (pg_depend.classid = 'pg_statistic_ext'::regclass and nspname in ('disclosed', 'suppressed'))
), objects as materialized (
  select found.*, named.type, named.identity, named.type || ' ' || named.identity as object
  from found cross join lateral pg_identify_object(classid, oid, 0) as named
  -- An extension brings its objects, and a range its functions.
  where not exists (
    select from pg_catalog.pg_depend
    where pg_depend.classid = found.classid and objid = oid and (deptype = 'e' or deptype = 'i' and found.classid = 'pg_proc'::regclass)
  )
), relations as materialized (
  select object, scope, identity, type, pg_class.*
  from objects join pg_catalog.pg_class on pg_class.oid = objects.oid where classid = 'pg_class'::regclass
), columns as materialized (
  select object, scope, identity, type, quote_ident(attname) as column_name, pg_attribute.*
  from relations join pg_catalog.pg_attribute on attrelid = relations.oid
  where attnum > 0 and not attisdropped and relkind <> 'S'
), creations (object, scope, statement, place, undo) as (
  -- What creates each object. PostgreSQL creates a column's own sequence with the column.
  select object, scope, coalesce(printed, object), case when printed is not null then 0 end,
    format('drop %s %s', replace(type, 'composite ', ''), identity)
  from objects
  cross join lateral coalesce(
    (
      select format('create %s %s as', case relkind when 'v' then 'or replace view' else 'materialized view' end, identity)
        || E'\n' || pg_get_viewdef(oid)
      from pg_catalog.pg_class where pg_class.oid = objects.oid and relkind in ('v', 'm')
    ),
    (select pg_get_functiondef(oid) from pg_catalog.pg_proc where pg_proc.oid = objects.oid and prokind <> 'a'),
    (
      select format('create domain %s as %s', identity, format_type(typbasetype, typtypmod))
      from pg_catalog.pg_type where pg_type.oid = objects.oid and typtype = 'd'
    ),
    case when type = 'table' then format('create table %s ()', identity) end
  ) as printed
  where not exists (
    select from pg_catalog.pg_depend
    where pg_depend.classid = objects.classid and objid = oid and deptype in ('i', 'a') and type = 'sequence'
  )
), comments (object, scope, statement, place, undo) as (
  -- Comments on objects and on their columns.
  select object, scope,
    format('comment on %s is %L', subject, description), 2,
    format('comment on %s is null', subject)
  from objects
  join pg_catalog.pg_description on objoid = oid and classoid = classid
  cross join lateral pg_identify_object(classoid, objoid, objsubid) as named
  cross join lateral concat(regexp_replace(named.type, '^.* (?=column)', ''), ' ', named.identity) as subject
), options (object, scope, statement, place, undo) as (
  -- Storage parameters, and the options of views.
  select object, scope, format('alter %s %s set (%s)', type, identity, option), 2,
    format('alter %s %s reset (%s)', type, identity, split_part(option, '=', 1))
  from relations cross join lateral unnest(reloptions) as option
), column_types (object, scope, statement, place, undo) as (
  -- The columns of tables; for views and types, a description.
  select object, scope,
    case when type = 'table'
      then format(
        'alter table %s add column %s %s%s', identity, column_name, format_type(atttypid, atttypmod),
        case attidentity when 'a' then ' generated always as identity' when 'd' then ' generated by default as identity' end
      )
      else format('column %s: %s', column_name, format_type(atttypid, atttypmod))
    end,
    case when type = 'table' then 1 end,
    case when type = 'table' then format('alter table %s drop column %s', identity, column_name) end
  from columns
), required_columns (object, scope, statement, place, undo) as (
  -- Columns that are not null.
  select object, scope, format('alter table %s alter column %s set not null', identity, column_name), 2,
    format('alter table %s alter column %s drop not null', identity, column_name)
  from columns where attnotnull
), defaults (object, scope, statement, place, undo) as (
  -- Defaults of columns.
  select object, scope,
    format('alter table %s alter column %s set default %s', identity, column_name, pg_get_expr(adbin, adrelid)), 2,
    format('alter table %s alter column %s drop default', identity, column_name)
  from columns join pg_catalog.pg_attrdef on adrelid = attrelid and adnum = attnum
), constraints (object, scope, statement, place, undo) as (
  -- Constraints. Since PostgreSQL 18, not null is one; required_columns has it.
  select object, scope,
    format('alter %s %s add constraint %I %s', changed, identity, conname, pg_get_constraintdef(pg_constraint.oid)), 2,
    format('alter %s %s drop constraint %I', changed, identity, conname)
  from objects
  cross join lateral replace(type, 'type', 'domain') as changed
  join pg_catalog.pg_constraint on objects.oid in (conrelid, contypid)
  where contype <> 'n'
), indexes (object, scope, statement, place, undo) as (
  -- Indexes that belong to no constraint, and whether they are valid.
  select object, scope, pg_get_indexdef(indexrelid) || case when indisvalid then '' else ' -- invalid' end, 2,
    format('drop index %s', indexrelid::regclass)
  from relations join pg_catalog.pg_index on indrelid = oid
  where not exists (select from pg_catalog.pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
), triggers (object, scope, statement, place, undo) as (
  -- Triggers, and whether they are enabled. Each deployment replaces them with their functions.
  select format('trigger %s on %s', quote_ident(tgname), identity), 'api',
    pg_get_triggerdef(pg_trigger.oid) || case tgenabled when 'O' then '' else ' -- enabled: ' || tgenabled::text end, 0,
    format('drop trigger %I on %s', tgname, identity)
  from relations join pg_catalog.pg_trigger on tgrelid = relations.oid where not tgisinternal
), role_settings (object, scope, statement, place, undo) as (
  -- Settings of roles, and of the database or of all roles.
  select
    case
      when roles.oid is not null then 'settings of roles'
      else format('setting %s of %s', variable, case setdatabase when 0 then 'all roles' else 'the database' end)
    end,
    case when roles.oid is null then 'outside' else 'durable' end,
    format('%s set %I = %s', changed, variable, case
      when variable in ('search_path', 'temp_tablespaces', 'local_preload_libraries', 'session_preload_libraries') then value
      else quote_literal(value)
    end), 2,
    format('%s reset %I', changed, variable)
  from pg_catalog.pg_db_role_setting
  left join roles on roles.oid = setrole
  cross join lateral concat(
    'alter ', case when roles.oid is not null or setdatabase = 0 then 'role ' || coalesce(roles.name, 'all') end,
    case when roles.oid is not null and setdatabase <> 0 then ' in ' end,
    case when setdatabase <> 0 then format('database %I', current_database()) end
  ) as changed
  cross join lateral unnest(setconfig) as setting
  cross join lateral split_part(setting, '=', 1) as variable
  cross join lateral substr(setting, strpos(setting, '=') + 1) as value
  where setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
    and (roles.oid is not null or setrole = 0)
    -- Administrators may choose these settings, and not every owner of the database may set temp_file_limit.
    and variable not in ('temp_file_limit', 'random_page_cost')
), rows (table_name, key, content) as (
  select 'access.tiers', 'name', to_jsonb(tiers) from access.tiers
  union all
  select 'access.settings', 'is_the_one_row', to_jsonb(settings) from access.settings
), row_contents (object, scope, statement, place, undo) as (
  -- These rows decide what keys may do and how long tokens last, so a change to them is drift, like a change to a table.
  select format('row of %s %s', table_name, content ->> key), 'durable',
    format(
      'insert into %1$s select * from jsonb_populate_record(null::%1$s, %2$L) on conflict (%3$I) do update set %4$s', table_name,
      jsonb_pretty(content), key, (
        select string_agg(format('%1$I = excluded.%1$I', name), ', ' order by name) from jsonb_object_keys(content) as name where name <> key
      )
    ), 0,
    format('delete from %s where %I = %L', table_name, key, content ->> key)
  from rows
)
table creations
union all
table comments
union all
table options
union all
table column_types
union all
table required_columns
union all
table defaults
union all
table constraints
union all
table indexes
union all
table triggers
union all
table role_settings
union all
table row_contents
