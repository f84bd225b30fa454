-- Describes up to 100 added and 100 changed reports of each publication, but at most 2,000 in all, the newest publications first.
create or replace function publication.describe_changes()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'number', changes.number,
        'published_at', changes.published_at,
        'data_set', changes.to_data_set,
        'counts', jsonb_build_object(
          'added', cardinality(changes.added),
          'changed', cardinality(changes.changed),
          'removed', cardinality(changes.removed)
        ),
        -- The change's bulk file lists all.
        'first', jsonb_build_object(
          'added', changes.first_added,
          'changed', changes.first_changed,
          'removed', changes.removed[:100]
        ),
        'reports', publication.describe_changed_reports(
          changes.number, changes.first_added || changes.first_changed, changes.first_changed, changes.changed_parts[:100]
        )
      )
      order by changes.number desc
    ),
    '[]'
  )
  from (
    select
      summed.*,
      case when summed.reports <= 2000 then summed.added[:100] else '{}' end as first_added,
      case when summed.reports <= 2000 then summed.changed[:100] else '{}' end as first_changed
    from (
      select
        changes.*,
        sum(least(cardinality(changes.added), 100) + least(cardinality(changes.changed), 100)) over (order by changes.number desc) as reports
      from publication.changes
    ) as summed
  ) as changes
$$;
comment on function publication.describe_changes is
  'Returns the kept records of changes, newest first: how many reports each publication or rollback added, changed and removed, the IDs of the first 100 of each, and what the pages say of those that are public now. Once 2,000 reports are described, older records have only the IDs of removed reports.';
grant execute on function publication.describe_changes to site;
