-- Drops everything in the schema "request" except authorize() and pre_config(), which PostgREST may be about to call. Those are
-- replaced in place, and lose the grants and comments that their files no longer give them.

do $$
declare
  object record;
begin
  if to_regnamespace('request') is null then
    return;
  end if;
  revoke all on schema request from authenticator, gateway, api_public, api_tribal, api_owner;
  for object in
    select replace(named.type, 'composite ', '') as type, named.identity
    from pg_catalog.pg_depend cross join lateral pg_identify_object(classid, objid, 0) as named
    where refclassid = 'pg_namespace'::regclass and refobjid = to_regnamespace('request')
    order by named.type <> 'operator', named.type = 'type'
  loop
    if object.identity in ('request.authorize()', 'request.pre_config()') then
      execute format('revoke all on function %s from authenticator, gateway, api_public, api_tribal', object.identity);
      execute format('comment on function %s is null', object.identity);
    else
      execute format('drop %s %s', object.type, object.identity);
    end if;
  end loop;
end
$$;
