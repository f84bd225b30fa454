-- PostgreSQL reads `general.json_agg` as json_agg(general), so select=json_agg would put a whole table into one row,
-- past the limit on rows. A second function of the same name that also takes a row makes that ambiguous, and
-- PostgreSQL then says that there is no such column. They are found because PostgREST searches this schema as well
-- (pre_config: db_extra_search_path). The aggregates are PostgreSQL's own, since PostgREST itself calls json_agg and array_agg.
create aggregate request.json_agg(record) (
  sfunc = pg_catalog.json_agg_transfn, stype = internal, finalfunc = pg_catalog.json_agg_finalfn
);
create aggregate request.json_agg_strict(record) (
  sfunc = pg_catalog.json_agg_strict_transfn, stype = internal, finalfunc = pg_catalog.json_agg_finalfn
);
create aggregate request.jsonb_agg(record) (
  sfunc = pg_catalog.jsonb_agg_transfn, stype = internal, finalfunc = pg_catalog.jsonb_agg_finalfn
);
create aggregate request.jsonb_agg_strict(record) (
  sfunc = pg_catalog.jsonb_agg_strict_transfn, stype = internal, finalfunc = pg_catalog.jsonb_agg_finalfn
);
create aggregate request.array_agg(record) (
  sfunc = pg_catalog.array_agg_transfn, stype = internal,
  finalfunc = pg_catalog.array_agg_finalfn, finalfunc_extra
);

create function request.any_value(record)
returns boolean
language plpgsql immutable security invoker set search_path = ''
as $$ begin return null; end $$;

comment on aggregate request.json_agg(record) is 'json_agg, as PostgREST uses it for its answers.';
comment on aggregate request.json_agg_strict(record) is 'Makes select=json_agg_strict an unknown column.';
comment on aggregate request.jsonb_agg(record) is 'Makes select=jsonb_agg an unknown column.';
comment on aggregate request.jsonb_agg_strict(record) is 'Makes select=jsonb_agg_strict an unknown column.';
comment on aggregate request.array_agg(record) is 'array_agg, as PostgREST uses it for the description at /.';
comment on function request.any_value(record) is 'Makes select=any_value an unknown column.';

grant execute on function
  request.json_agg(record), request.json_agg_strict(record), request.jsonb_agg(record),
  request.jsonb_agg_strict(record), request.array_agg(record), request.any_value(record)
to api_public, api_tribal;
