-- Run this after the backup when you restore (docs/operations.md). It marks the data set in this database as live, because
-- the backup names the other database's data set.
update publication.data_sets set state = 'dropped';
-- No change leads from the backup's data sets to the next one, so clients must load everything again.
delete from publication.changes;
update publication.data_sets set state = 'live' where data_sets.id = (select data_set.id from disclosed.data_set);
-- The next deployment must compare the API with the promises that the backup contains, and must not take the backup's tiers
-- for changes made by hand.
update deployment.api_schemas set sha256 = '', fingerprint = '{}';

set constraints all immediate;
do $$
declare
  durable regclass;
begin
  for durable in
    select pg_class.oid from pg_catalog.pg_class
    where pg_class.relkind = 'r'
      and pg_class.relnamespace in ('access'::regnamespace, 'publication'::regnamespace)
  loop
    execute format('alter table %s enable trigger user', durable);
  end loop;
end
$$;
