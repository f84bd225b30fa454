-- Run this before the backup when you restore into a newly deployed database (docs/operations.md), in the same transaction.
-- It removes the rows that the deployment added to the durable tables, so that the backup's rows do not collide with them.
do $$
begin
  if exists (select from access.api_keys where api_keys.tier <> 'demo') then
    raise exception 'This database already has API keys, so it is not newly deployed.'
      using hint = 'Create a database, run npm run db:deploy on it, and restore into that one.';
  end if;
end
$$;

-- The tables' triggers refuse to remove rows, and they record events, which the backup already contains.
do $$
declare
  durable regclass;
begin
  for durable in
    select pg_class.oid from pg_catalog.pg_class
    where pg_class.relkind = 'r'
      and pg_class.relnamespace in ('access'::regnamespace, 'publication'::regnamespace, 'ledger'::regnamespace)
  loop
    execute format('alter table %s disable trigger user', durable);
  end loop;
  -- The backup may contain a key before the key that it replaces.
  set constraints all deferred;

  execute (
    select format('truncate %s', string_agg(pg_class.oid::regclass::text, ', '))
    from pg_catalog.pg_class
    where pg_class.relkind = 'r'
      and pg_class.relnamespace in ('access'::regnamespace, 'publication'::regnamespace, 'ledger'::regnamespace)
  );
end
$$;
