-- For the files of a version: lets general embed the rows of a view that has a report_id, and each of these rows its report
-- (api_v1_1_0/schema.sql). bytes: an expression, the approximate size of a row (request.limit_embedded_bytes).
create function request.embed_in_general(view regclass, bytes text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  schema_name name;
  view_name name;
begin
  select pg_namespace.nspname, pg_class.relname into schema_name, view_name
  from pg_catalog.pg_class
  join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
  where pg_class.oid = view;
  execute format(
    $sql$
      create function %1$I.general(%1$I.%2$I) returns setof %1$I.general rows 1
      language sql stable
      begin atomic select general.* from %1$I.general where general.report_id = $1.report_id; end;
      comment on function %1$I.general(%1$I.%2$I) is 'The report of a row.';
      grant execute on function %1$I.general(%1$I.%2$I) to api_public, api_tribal;

      create function %1$I.%2$I(%1$I.general) returns setof %1$I.%2$I
      language sql stable
      begin atomic
        select %2$I.* from %1$I.%2$I
        where %2$I.report_id = $1.report_id and request.limit_embedded_bytes(%3$s);
      end;
      comment on function %1$I.%2$I(%1$I.general) is 'The rows of a report.';
      grant execute on function %1$I.%2$I(%1$I.general) to api_public, api_tribal;
    $sql$,
    schema_name, view_name, bytes
  );
end
$$;
comment on function request.embed_in_general is 'Creates the two functions through which a view and general embed each other.';
grant execute on function request.embed_in_general to api_owner;
