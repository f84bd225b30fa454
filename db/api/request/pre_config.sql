-- PostgREST's configuration (PostgREST: db-pre-config). Read at start and on `notify pgrst, 'reload config'`.
create or replace function request.pre_config()
returns void
language sql stable security invoker set search_path = ''
as $$
  select
    -- Every version schema is served. The oldest comes first and is the default, so that a client that names
    -- no version keeps the answers it has until that version is retired.
    set_config('pgrst.db_schemas', string_agg(served_schemas.name, ',' order by served_schemas.place), false),
    set_config('pgrst.db_pre_request', 'request.authorize', false),
    -- Clients step through tables by 20,000.
    set_config('pgrst.db_max_rows', '20000', false),
    set_config('pgrst.openapi_mode', 'follow-privileges', false),
    -- There is one token, the gateway's. To check its signature at each request cost PostgREST a fifth of its time; checked
    -- once a minute, one that is signed with an old secret is refused a minute late. PostgREST 14 and later do so by themselves.
    set_config('pgrst.jwt_cache_max_lifetime', '60', false)
  from publication.served_schemas
$$;
comment on function request.pre_config is 'Configures PostgREST (PostgREST: db-pre-config).';
grant execute on function request.pre_config to authenticator;
