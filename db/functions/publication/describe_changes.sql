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
          'added', changes.added[:100],
          'changed', changes.changed[:100],
          'removed', changes.removed[:100]
        ),
        'reports', publication.describe_changed_reports(
          changes.number, changes.added[:100] || changes.changed[:100], changes.changed[:100], changes.changed_parts[:100]
        )
      )
      order by changes.number desc
    ),
    '[]'
  )
  from publication.changes
$$;
comment on function publication.describe_changes is
  'Returns the kept records of changes, newest first: how many reports each publication or rollback added, changed and removed, the IDs of the first 100 of each, and what the pages say of those that are public now.';
grant execute on function publication.describe_changes to site;
