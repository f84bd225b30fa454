-- Makes the request's X-Request-Id part of what the database says of it: PostgreSQL's log lines and pg_stat_activity
-- show application_name, and access.downloads keeps request.id. Clients may send their own, so only a sane one is
-- taken; 63 bytes is what application_name holds. 43 letters and digits are the form of a key (access.issue_key).
create function request.note_request_id(request_id text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  -- Not as one pattern: a counted repetition costs ten times as much.
  if
    length(request_id) <= 63 and request_id ~ '^[A-Za-z0-9_.:-]+$'
    and (length(request_id) <> 43 or request_id ~ '[_.:-]')
  then
    perform set_config('application_name', request_id, true), set_config('request.id', request_id, true);
  end if;
end
$$;
comment on function request.note_request_id is
  'Shows this X-Request-Id as application_name for the rest of the transaction, unless it is odd.';
grant execute on function request.note_request_id to gateway;
