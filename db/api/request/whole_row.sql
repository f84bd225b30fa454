-- PostgreSQL reads `general.to_jsonb` as to_jsonb(general). So select=json_agg would put a whole table into one row, past
-- the row limit, and select=federal_awards(to_json,to_jsonb,row_to_json) would return each award three times, past the limit
-- on embedded bytes. A second function of the same name that also accepts the row makes the call ambiguous, and PostgreSQL
-- answers that there is no such column. These functions are found because request.authorize() puts this schema on the search
-- path, and they accept the rows of every served view because deployments create casts from those to whole_row. PostgREST's
-- own calls of json_agg and row_to_json pass rows of no view, so they still reach PostgreSQL's functions.
-- pgls-ignore lint/safety/creatingEnum: it never has values
create type request.whole_row as enum ();
comment on type request.whole_row is 'A type without values. It makes calls such as select=to_jsonb ambiguous, so PostgreSQL refuses them.';

-- The names come from the catalog, because each version of PostgreSQL adds some. There are no grants, because the functions
-- never run.
do $$
declare
  taken record;
begin
  for taken in
    select distinct pg_proc.proname as name
    from pg_catalog.pg_proc
    where pg_proc.pronamespace = 'pg_catalog'::regnamespace
      and pg_proc.pronargs - pg_proc.pronargdefaults = 1
      and pg_proc.proargtypes[0] = any (
        '{record,"\"any\"",anyelement,anynonarray,anycompatible,anycompatiblenonarray}'::regtype[]
      )
  loop
    execute format(
      'create function request.%I(request.whole_row) returns void
       language sql immutable security invoker set search_path = '''' as ''select''', taken.name
    );
    execute format('comment on function request.%I is %L', taken.name, format('Makes select=%s, which would return a whole row, fail with the error for an unknown column.', taken.name));
  end loop;
end
$$;

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
comment on function request.cast_views is 'Creates a cast from each served view''s row type to request.whole_row. Deployments run it after they create the views.';
