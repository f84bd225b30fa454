-- Functions that recreate the API's versions: for each deployment, and for a publication that changes the columns of
-- dissemination.
-- Lock level: a new table. When they run, the functions take exclusive locks on the views that they recreate.

create table deployment.api_files (
  place integer primary key,
  schema_name text not null,
  name text not null,
  sql text not null
);
comment on table deployment.api_files is
  'The files of the API''s versions that the last deployment applied, in order. A publication that changes the type of a column applies them again.';

create function deployment.list_hand_made_objects()
returns setof text
language sql stable security invoker set search_path = ''
as $$
  with relations as (
    select * from pg_catalog.pg_class
    where pg_class.relnamespace in (select served_schemas.oid from publication.served_schemas)
  ), contents as (
    select pg_depend.classid, pg_depend.objid as oid
    from pg_catalog.pg_depend
    where pg_depend.refclassid = 'pg_namespace'::regclass
      and pg_depend.refobjid in (select served_schemas.oid from publication.served_schemas)
    union all
    select 'pg_type'::regclass, relations.reltype from relations
  ), dependents as (
    -- A view depends on what it reads through its rule.
    select distinct
      case when pg_rewrite.ev_class is null then pg_depend.classid else 'pg_class'::regclass end as classid,
      coalesce(pg_rewrite.ev_class, pg_depend.objid) as oid
    from pg_catalog.pg_depend
    left join pg_catalog.pg_rewrite
      on pg_depend.classid = 'pg_rewrite'::regclass and pg_rewrite.oid = pg_depend.objid
    where pg_depend.deptype = 'n'
      and (pg_depend.refclassid, pg_depend.refobjid) in (select contents.classid, contents.oid from contents)
  )
  select pg_describe_object('pg_class'::regclass, relations.oid, 0)
  from relations
  where relations.relkind in ('r', 'p', 'm', 'f', 'S')
  union all
  select pg_describe_object(dependents.classid, dependents.oid, 0) || ', which depends on the API'
  from dependents
  where (dependents.classid, dependents.oid) not in (select contents.classid, contents.oid from contents)
    -- request.cast_views() makes these.
    and dependents.classid <> 'pg_cast'::regclass
$$;
comment on function deployment.list_hand_made_objects is
  'Lists tables in API schemas, and objects elsewhere that depend on the API. Recreating the API would delete them.';
grant execute on function deployment.list_hand_made_objects to deployment_planner;

create function deployment.drop_versions()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  version record;
begin
  for version in select served_schemas.name from publication.served_schemas order by served_schemas.place loop
    execute format('drop schema %I cascade', version.name);
  end loop;
end
$$;
comment on function deployment.drop_versions is 'Drops the API schemas.';

-- api_owner may not use the runner's schema; otherwise a file could make the runner run with its caller's rights. Inside a
-- security definer function PostgreSQL refuses to change the role or end the transaction, and deferred triggers run before
-- it returns. The runner exists only in the transaction that recreates the versions.
create function deployment.create_versions()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  version record;
begin
  grant create on schema deployment to api_owner;
  create function deployment.run_as_api_owner(statement text) returns void
  language plpgsql volatile security definer set search_path = ''
  as 'begin execute statement; set constraints all immediate; end';
  alter function deployment.run_as_api_owner(text) owner to api_owner;
  revoke create on schema deployment from api_owner;
  for version in
    select api_files.schema_name as name from deployment.api_files group by api_files.schema_name order by min(api_files.place)
  loop
    execute format('create schema %I authorization api_owner', version.name);
  end loop;
end
$$;
comment on function deployment.create_versions is
  'Creates the schemas of deployment.api_files, and the function deployment.run_as_api_owner(), which runs files with the rights of api_owner.';

create function deployment.complete_versions()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  drop function deployment.run_as_api_owner(text);
  perform request.cast_views(), publication.describe_data_set();
  notify pgrst, 'reload schema';
end
$$;
comment on function deployment.complete_versions is
  'Completes the API schemas once their files have run: drops deployment.run_as_api_owner(), and tells PostgREST.';

create function deployment.rebuild_versions()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  hand_made text;
  file record;
begin
  select string_agg(name, '; ' order by name)
  into hand_made
  from deployment.list_hand_made_objects() as name;
  if hand_made is not null then
    raise exception 'Rebuilding the API would delete objects that were made by hand: %', hand_made
      using hint = 'Move tables, materialized views and sequences to another schema, and drop the rest. Then try again.';
  end if;
  perform deployment.drop_versions();
  perform deployment.create_versions();
  for file in select api_files.name, api_files.sql from deployment.api_files order by api_files.place loop
    begin
      perform deployment.run_as_api_owner(file.sql);
    exception
      when lock_not_available or deadlock_detected or query_canceled then
        raise;
      when others then
        raise exception '% does not fit this data set: %', file.name, sqlerrm
          using errcode = sqlstate, hint = 'Correct db/data_set, or deploy an API that fits both data sets. Then refresh.';
    end;
  end loop;
  perform deployment.complete_versions();
  -- These changes were not made by hand. The next deployment records the new state.
  update deployment.api_schemas
  set fingerprint = fingerprint - 'api'
  where api_schemas.id = (select max(newest.id) from deployment.api_schemas as newest);
end
$$;
comment on function deployment.rebuild_versions is
  'Recreates the API schemas from the files of the last deployment, so that they serve changed columns of dissemination.';

create function publication.rebind_api_views()
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  reader record;
  definition text;
begin
  -- A view cannot be replaced by one whose columns have other types.
  if exists (
    select
    from pg_catalog.pg_class as source
    join pg_catalog.pg_depend
      on pg_depend.refclassid = 'pg_class'::regclass and pg_depend.refobjid = source.oid
      and pg_depend.classid = 'pg_rewrite'::regclass
    join pg_catalog.pg_rewrite on pg_rewrite.oid = pg_depend.objid and pg_rewrite.ev_class <> source.oid
    join pg_catalog.pg_attribute as old on old.attrelid = source.oid and old.attnum = pg_depend.refobjsubid
    join pg_catalog.pg_attribute as new
      on new.attrelid = to_regclass(format('dissemination.%I', source.relname)) and new.attname = old.attname
    where source.relnamespace = to_regnamespace('dissemination_replaced')
      and (new.atttypid, new.atttypmod, new.attcollation) <> (old.atttypid, old.atttypmod, old.attcollation)
  ) then
    perform deployment.rebuild_versions();
    return;
  end if;
  for reader in
    select distinct pg_class.oid, served_schemas.name as schema_name, pg_class.relname
    from pg_catalog.pg_class as source
    join pg_catalog.pg_depend
      on pg_depend.refclassid = 'pg_class'::regclass and pg_depend.refobjid = source.oid
      and pg_depend.classid = 'pg_rewrite'::regclass
    join pg_catalog.pg_rewrite on pg_rewrite.oid = pg_depend.objid
    join pg_catalog.pg_class on pg_class.oid = pg_rewrite.ev_class
    join publication.served_schemas on served_schemas.oid = pg_class.relnamespace
    where source.relnamespace = to_regnamespace('dissemination_replaced') and pg_class.relkind = 'v'
  loop
    -- pg_get_viewdef() omits a schema name only if the schema is on the search path. So the definition, read with the old
    -- schema on the path and run with the new one, refers to the new views.
    perform set_config('search_path', 'dissemination_replaced, pg_temp', true);
    definition := pg_get_viewdef(reader.oid);
    perform set_config('search_path', 'dissemination, pg_temp', true);
    execute format(
      'create or replace view %I.%I with (security_invoker = true) as %s', reader.schema_name, reader.relname, definition
    );
  end loop;
end
$$;
comment on function publication.rebind_api_views is
  'Makes the API views that read the schema dissemination_replaced (the previous data set) read the views of the same names in '
  'the schema dissemination. Rebuilds the API if a column has another type. Fails if a column is missing.';
revoke execute on function publication.rebind_api_views from public;
grant execute on function publication.rebind_api_views to publisher;
