-- PostgREST runs this before each request (PostgREST: db-pre-request), as gateway.
--
-- A deployment holds the lock exclusively while it replaces the API schemas. So a request sees either the old API or the new
-- one, from its ETag to its last row. request.decide() is looked up only after the lock is granted.
--
-- PostgREST qualifies every name it uses except columns. PostgreSQL reads `general.findings` as findings(general) if such a
-- function is on the search path, and would repeat each row for each of its findings. So the API schemas are not on the
-- search path; `request` is, to make PostgreSQL's own functions ambiguous (whole_row.sql), and comes first for full-text search
-- (search_texts.sql). A function cannot pin the search path that it sets, so this one qualifies every name.
--
-- Deployments replace this function and request.pre_config() in place and never drop them, because PostgREST may be about to
-- call them.
create or replace function request.authorize()
returns void
language plpgsql volatile security invoker
as $$
begin
  perform
    pg_catalog.set_config('search_path', 'request, pg_catalog', true),
    pg_catalog.pg_advisory_xact_lock_shared(pg_catalog.hashtext('api_schemas'));
  perform request.decide();
end
$$;
comment on function request.authorize is 'PostgREST''s db-pre-request: waits while a deployment replaces the API, then calls request.decide().';
grant execute on function request.authorize to gateway;
