-- PostgREST's configuration (PostgREST: db-pre-config). Read at start and on `notify pgrst, 'reload config'`.
create or replace function request.pre_config()
returns void
language sql stable security invoker set search_path = ''
as $$
  select
    -- Every version's schema is served. The oldest comes first and is the default, so clients that do not name a version
    -- keep it until it is retired.
    set_config('pgrst.db_schemas', string_agg(served_schemas.name, ',' order by served_schemas.place), false),
    set_config('pgrst.db_pre_request', 'request.authorize', false),
    set_config('pgrst.openapi_mode', 'follow-privileges', false),
    -- There is one token, the gateway's, and checking its signature in every request takes a fifth of PostgREST's time. So
    -- PostgREST checks it once a minute, and refuses a token signed with an old secret up to a minute late. PostgREST 14 and
    -- later cache by default.
    set_config('pgrst.jwt_cache_max_lifetime', '60', false)
  from publication.served_schemas
$$;
comment on function request.pre_config is 'Sets PostgREST''s configuration (PostgREST: db-pre-config).';
grant execute on function request.pre_config to authenticator;
