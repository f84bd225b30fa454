-- What PostgREST runs before each request (PostgREST: db-pre-request), as gateway.
--
-- A deployment takes the lock exclusively for the moment in which it replaces the API schemas. So a request meets
-- the old API from its ETag to its last row, or the new one, and never the first half of one and the second of the
-- other. What it may see is decided after the lock is there, by a function that is looked up then.
--
-- Everything that PostgREST runs afterwards names its schemas, except for what it takes for a column: PostgreSQL reads
-- `general.findings` as findings(general), and each row would be repeated for each of its findings. Without the API schemas
-- on the search path, no such function is found. With `request` on it, those of PostgreSQL are ambiguous (whole_row.sql).
-- A function cannot pin the path that it sets, so this one names all schemas.
--
-- This function and request.pre_config() are replaced in place, never dropped: PostgREST may be about to call them.
create or replace function request.authorize()
returns void
language plpgsql volatile security invoker
as $$
begin
  perform
    pg_catalog.set_config('search_path', 'request', true),
    pg_catalog.pg_advisory_xact_lock_shared(pg_catalog.hashtext('api_schemas'));
  perform request.decide();
end
$$;
comment on function request.authorize is 'Waits for a deployment that is replacing the API, then decides (PostgREST: db-pre-request).';
grant execute on function request.authorize to gateway;
