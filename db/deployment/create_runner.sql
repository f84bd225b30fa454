-- deployment.run_as_api_owner() runs the files of the API with the rights of api_owner. It exists only in the transaction that
-- rebuilds the API. api_owner may not use its schema; otherwise a file could make it run with its caller's rights. Inside a
-- security definer function PostgreSQL refuses to change the role or end the transaction, and deferred triggers run before
-- it returns.
grant create on schema deployment to api_owner;
create function deployment.run_as_api_owner(statement text) returns void
language plpgsql volatile security definer set search_path = ''
as 'begin execute statement; set constraints all immediate; end';
alter function deployment.run_as_api_owner(text) owner to api_owner;
revoke create on schema deployment from api_owner;
