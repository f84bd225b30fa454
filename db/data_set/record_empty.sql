-- Records the empty data set that the first deployment publishes.

insert into publication.data_sets (id, source, state, row_counts)
select data_set.id, 'empty', 'live', (
  select jsonb_object_agg(relname, '{"disclosed": 0, "suppressed": 0}'::jsonb)
  from pg_catalog.pg_class where relnamespace = 'suppressed'::regnamespace and relkind = 'r'
)
from disclosed.data_set;

select publication.describe_data_set();
