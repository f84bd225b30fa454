-- Records that a data set is live. Runs in the transaction that makes it live: a refresh or a rollback.

-- From now on, request.decide() does not refuse requests. PostgREST need not reload its schema cache, because the views that
-- it serves, and their columns, stay the same.
update disclosed.data_set set published_at = data_sets.published_at
from publication.data_sets
where data_sets.id = data_set.id and data_sets.state = 'live';

-- Which reports have public rows that differ from those in the previous data set.
insert into publication.changes (from_data_set, to_data_set, added, changed, removed)
select
  previous.id,
  live.id,
  coalesce(array_agg(report_id order by report_id) filter (where is_there and not was_there), '{}'),
  coalesce(array_agg(report_id order by report_id) filter (where is_there = was_there), '{}'),
  coalesce(array_agg(report_id order by report_id) filter (where was_there and not is_there), '{}')
from publication.data_sets as previous
join publication.data_sets as live on live.state = 'live'
left join (
  select
    report_id,
    coalesce(old.is_in_general, false) as was_there,
    coalesce(new.is_in_general, false) as is_there
  from disclosed_previous.fingerprints as old
  full join disclosed.fingerprints as new using (report_id)
  where old.fingerprint is distinct from new.fingerprint
) as compared on true
-- The first data set has no previous one, so it lists no reports.
where previous.state = 'previous'
group by previous.id, live.id;
delete from publication.changes where number <= (select max(number) - 100 from publication.changes);
