-- Compares the row counts of a new data set with those of the live one. Returns one line for each difference that someone
-- must accept, and the flag that accepts it. Parameters: row counts in the format of publication.data_sets.row_counts, and
-- whether each flag is given.
with counts as (
  select name, coalesce(old.suppressed, 0) as old_suppressed, coalesce(new.suppressed, 0) as new_suppressed,
    old.disclosed + old.suppressed as before, coalesce(new.disclosed + new.suppressed, 0) as after
  from publication.data_sets
  cross join jsonb_each(row_counts::jsonb) as live (name, counts)
  cross join jsonb_to_record(live.counts) as old (disclosed numeric, suppressed numeric)
  left join jsonb_to_record($1::jsonb -> name) as new (disclosed numeric, suppressed numeric) on true
  where state = 'live' and old.disclosed + old.suppressed > 0
)
select '--accept-shrink' as flag,
  format('%s would fall from %s to %s rows (%s%% fewer; the limit is 5%%).', name, before, after,
    round(100 * (before - after) / before, 1)) as line
from counts where not $2 and after < 0.95 * before
union all
select '--accept-shrink',
  format('The share of suppressed submissions would go from %s%% to %s%% (the limit is 1 percentage point).',
    round(100 * old_suppressed / before, 1), round(100 * new_suppressed / after, 1))
from counts where not $2 and name = 'general' and after > 0 and abs(old_suppressed / before - new_suppressed / after) > 0.01
union all
select '--accept-growth',
  format('%s would grow from %s to %s rows (%s times as many; the limit is 2).', name, before, after,
    round(after / before, 1))
from counts where not $3 and after > 2 * before and after - before > 1000
