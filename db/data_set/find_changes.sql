-- Which reports have other public rows in the next generation than in the live one. A rollback compares the previous one.
with compared as (
  select
    report_id,
    coalesce(old.is_in_general, false) as was_there,
    coalesce(new.is_in_general, false) as is_there
  from disclosed.fingerprints as old
  full join disclosed_next.fingerprints as new using (report_id)
  where old.fingerprint is distinct from new.fingerprint
)
select
  coalesce(array_agg(report_id order by report_id) filter (where is_there and not was_there), '{}') as added,
  coalesce(array_agg(report_id order by report_id) filter (where is_there = was_there), '{}') as changed,
  coalesce(array_agg(report_id order by report_id) filter (where was_there and not is_there), '{}') as removed
from compared
