-- Views of the API follow those of dissemination that could not be replaced in place.
-- Lock level: none; the function itself takes exclusive locks on the views that it rebuilds.

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
    -- Names are written without their schema exactly where they are found in it.
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
  'Makes each API view that reads a view of dissemination_replaced read the view of that name in dissemination, by its '
  'own definition. It fails where a column is gone or has another type.';
revoke execute on function publication.rebind_api_views from public;
grant execute on function publication.rebind_api_views to publisher;
