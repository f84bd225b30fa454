-- Files grant privileges on what they create, not on future objects.

create or replace function publication.find_rule_no_default_privileges()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select distinct
    'default privileges of api_owner' as object,
    'Do not grant privileges on future objects. Remove the statement "alter default privileges … grant …".' as rule
  from pg_catalog.pg_default_acl
  cross join lateral aclexplode(pg_default_acl.defaclacl) as granted
  where pg_default_acl.defaclrole = 'api_owner'::regrole and granted.grantee <> pg_default_acl.defaclrole
$$;
