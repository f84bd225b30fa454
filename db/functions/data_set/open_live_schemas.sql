create or replace function data_set.open_live_schemas()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  statement text;
begin
  -- Revoking all privileges on a table also revokes those on its columns.
  for statement in
    with retired as (
      select pg_namespace.oid, pg_namespace.nspname, pg_namespace.nspowner, pg_namespace.nspacl
      from pg_catalog.pg_namespace
      where pg_namespace.nspname ~ '^(disclosed|suppressed)_(next|previous|dropped)$'
    ), relations as (
      select pg_class.*, format('%I.%I', retired.nspname, pg_class.relname) as name
      from retired
      join pg_catalog.pg_class on pg_class.relnamespace = retired.oid
    ), rights as (
      select format('schema %I', retired.nspname) as object, granted.grantee
      from retired
      cross join lateral aclexplode(retired.nspacl) as granted
      where granted.grantee <> retired.nspowner
      union
      select format('table %s', relations.name), granted.grantee
      from relations
      cross join lateral aclexplode(relations.relacl) as granted
      where granted.grantee <> relations.relowner
      union
      select format('table %s', relations.name), granted.grantee
      from relations
      join pg_catalog.pg_attribute on pg_attribute.attrelid = relations.oid
      cross join lateral aclexplode(pg_attribute.attacl) as granted
      where granted.grantee <> relations.relowner
    )
    select format(
      'revoke all on %s from %s cascade', rights.object,
      string_agg(case rights.grantee when 0 then 'public' else rights.grantee::regrole::text end, ', ')
    )
    from rights
    group by rights.object
  loop
    execute statement;
  end loop;

  comment on schema disclosed is 'The live data set: rows of public submissions, and report IDs of suppressed ones.';
  comment on schema suppressed is 'The live data set: rows of suppressed submissions (2 CFR 200.512(b)(2)).';
  grant usage on schema disclosed, suppressed to api_public, api_tribal;
  for statement in
    select format('grant select on %s to api_public, api_tribal', string_agg(pg_class.oid::regclass::text, ', '))
    from pg_catalog.pg_class
    where pg_class.relnamespace in ('disclosed'::regnamespace, 'suppressed'::regnamespace)
      and pg_class.relkind = 'r' and pg_class.relname not in ('fingerprints', 'search_terms', 'totals_by_peer_groups')
    having count(*) > 0
  loop
    execute statement;
  end loop;
end
$$;
comment on function data_set.open_live_schemas is
  'Describes the schemas of the live data set, lets api_public and api_tribal read the live data set, and revokes every right on the next, previous and dropped generations from every role except their owner. Each transaction that makes a generation live calls it.';
grant execute on function data_set.open_live_schemas to publisher;
