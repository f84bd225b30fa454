-- PostgreSQL reads `general.json_agg` as json_agg(general), so select=json_agg would put a whole table into one row,
-- past the limit on rows. A second function of the same name that a row could be passed to as well makes that
-- ambiguous, and PostgreSQL then says that there is no such column. These functions are found because PostgREST searches
-- this schema as well (pre_config: db_extra_search_path); the rows of each served view could be passed to them because a
-- deployment casts these to whole_row. PostgREST's own calls of json_agg and array_agg pass rows of no view, for which
-- there is no cast, and mean PostgreSQL's own.
-- pgls-ignore lint/safety/creatingEnum: it never has values
create type request.whole_row as enum ();
comment on type request.whole_row is 'What makes an aggregate over the rows of a view ambiguous. It has no values.';

create function request.json_agg(request.whole_row) returns void
language sql immutable security invoker set search_path = '' as 'select';
create function request.json_agg_strict(request.whole_row) returns void
language sql immutable security invoker set search_path = '' as 'select';
create function request.jsonb_agg(request.whole_row) returns void
language sql immutable security invoker set search_path = '' as 'select';
create function request.jsonb_agg_strict(request.whole_row) returns void
language sql immutable security invoker set search_path = '' as 'select';
create function request.array_agg(request.whole_row) returns void
language sql immutable security invoker set search_path = '' as 'select';
create function request.any_value(request.whole_row) returns void
language sql immutable security invoker set search_path = '' as 'select';

comment on function request.json_agg is 'Makes select=json_agg an unknown column.';
comment on function request.json_agg_strict is 'Makes select=json_agg_strict an unknown column.';
comment on function request.jsonb_agg is 'Makes select=jsonb_agg an unknown column.';
comment on function request.jsonb_agg_strict is 'Makes select=jsonb_agg_strict an unknown column.';
comment on function request.array_agg is 'Makes select=array_agg an unknown column.';
comment on function request.any_value is 'Makes select=any_value an unknown column.';
-- No grant: they are found, and never run.

create function request.cast_views()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  served record;
begin
  for served in
    select pg_class.oid::regclass as view
    from publication.served_schemas
    join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid
    where pg_class.relkind = 'v'
      and not exists (
        select from pg_catalog.pg_cast
        where pg_cast.castsource = pg_class.reltype and pg_cast.casttarget = 'request.whole_row'::regtype
      )
  loop
    execute format('create cast (%s as request.whole_row) with inout as implicit', served.view);
  end loop;
end
$$;
comment on function request.cast_views is 'Casts the rows of each served view to request.whole_row. A deployment runs it once the views are there.';
