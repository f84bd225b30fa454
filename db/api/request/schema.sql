-- Functions that PostgREST calls before each request. The role gateway may use this schema and nothing else.
create schema if not exists request;
comment on schema request is 'PostgREST''s configuration, and the authorization and limits of each request.';
grant usage on schema request to authenticator, gateway, api_owner;
