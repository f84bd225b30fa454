-- A function that makes the API's views read the new views of dissemination when those could not be replaced in place.
-- Lock level: none. When it runs, the function takes exclusive locks on the views that it rebuilds.

create function publication.rebind_api_views()
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  reader record;
  definition text;
begin
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
  'Recreates the API views that read the schema dissemination_replaced (the previous data set), so that they read the views '
  'of the same names in the schema dissemination. Fails if a column is missing or has another type.';
revoke execute on function publication.rebind_api_views from public;
grant execute on function publication.rebind_api_views to publisher;
