-- Files grant privileges on what they create, not on future objects.
select distinct
  'default privileges of api_owner' as object,
  'Do not grant privileges on future objects. Remove the statement "alter default privileges … grant …".' as rule
from pg_catalog.pg_default_acl
cross join lateral aclexplode(pg_default_acl.defaclacl) as granted
where pg_default_acl.defaclrole = 'api_owner'::regrole and granted.grantee <> pg_default_acl.defaclrole;
