-- Part of a restore into a newly deployed database (docs/operations.md): takes out what the deployment has put into the
-- durable tables, so that the back-up's rows can stand there. Runs in one transaction with the back-up.
do $$
begin
  if exists (select from access.api_keys where api_keys.tier <> 'demo') then
    raise exception 'This database has keys of its own: it is not a newly deployed one.'
      using hint = 'Make a database, run npm run db:deploy on it, and restore into that.';
  end if;
end
$$;

-- The tables' own triggers refuse removals and write events down; the back-up has the events that there were.
do $$
declare
  durable regclass;
begin
  for durable in
    select pg_class.oid from pg_catalog.pg_class
    where pg_class.relkind = 'r'
      and pg_class.relnamespace in ('access'::regnamespace, 'publication'::regnamespace)
  loop
    execute format('alter table %s disable trigger user', durable);
  end loop;
  -- A key may stand before the one that it replaces.
  set constraints all deferred;

  execute (
    select format('truncate %s', string_agg(pg_class.oid::regclass::text, ', '))
    from pg_catalog.pg_class
    where pg_class.relkind = 'r'
      and pg_class.relnamespace in ('access'::regnamespace, 'publication'::regnamespace)
      and pg_class.oid <> 'publication.data_sets'::regclass
  );
end
$$;
-- The row of the empty data set that the deployment has made live stays, beside the history of the back-up.
update publication.data_sets set state = 'dropped';
