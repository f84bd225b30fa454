-- Reads only reports that are public now. Reports that were removed are left out, because they may have been suppressed. A publication
-- that changed more than 10,000 reports is not read, and no more than 20,000 reports are read in all, the newest first.
create or replace function publication.list_changes(criteria jsonb)
returns jsonb
language plpgsql stable security definer
set search_path = '' set work_mem = '32MB' set plan_cache_mode = force_custom_plan
as $$
declare
  of_aln constant text := criteria ->> 'aln';
  wanted_terms constant text[] := array_remove(
    array[criteria ->> 'state', case when of_aln like '%.%' then of_aln else of_aln || '.' end], null
  );
  of_reports text[];
  read_numbers bigint[];
begin
  read_numbers := array(
    select summed.number
    from (
      select sized.number, sum(sized.reports) over (order by sized.number desc) as reports
      from (
        select changes.number, cardinality(changes.added) + cardinality(changes.changed) as reports from publication.changes
      ) as sized
      where sized.reports <= 10000
    ) as summed
    where summed.reports <= 20000
  );
  if criteria ? 'ids' then
    of_reports := array(
      select found.report_id
      from publication.list_reports_of(array(select jsonb_array_elements_text(criteria -> 'ids'))) as found
    );
  else
    of_reports := array(
      select distinct unnest(changes.added || changes.changed)
      from publication.changes
      where changes.number = any (read_numbers)
    );
  end if;
  -- The terms of each public report include its state and programs. Reads all terms once, because their index would return every
  -- report of the agency, and a join could read all terms for each report.
  of_reports := array(
    select read.report_id
    from (
      select terms.report_id, terms.terms from disclosed.search_terms as terms where terms.report_id = any (of_reports) offset 0
    ) as read
    where read.terms @> wanted_terms
  );
  return (
    with listed as (
      select changes.number, 'added' as kind, unnest(changes.added) as report_id
      from publication.changes
      where changes.number = any (read_numbers)
      union all
      select changes.number, 'changed', unnest(changes.changed)
      from publication.changes
      where changes.number = any (read_numbers)
    ), matching as materialized (
      select
        listed.number,
        listed.kind,
        listed.report_id,
        row_number() over (partition by listed.number, listed.kind order by listed.report_id) as place
      from listed
      where listed.report_id = any (of_reports)
    ), counted as (
      select
        matching.number,
        count(*) filter (where matching.kind = 'added') as added,
        count(*) filter (where matching.kind = 'changed') as changed,
        coalesce(array_agg(matching.report_id order by matching.place) filter (where matching.kind = 'added' and matching.place <= 50), '{}') as first_added,
        coalesce(array_agg(matching.report_id order by matching.place) filter (where matching.kind = 'changed' and matching.place <= 50), '{}') as first_changed
      from matching
      group by matching.number
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'number', changes.number,
          'published_at', changes.published_at,
          'data_set', changes.to_data_set,
          'is_read', changes.number = any (read_numbers),
          'counts', jsonb_build_object('added', coalesce(counted.added, 0), 'changed', coalesce(counted.changed, 0), 'removed', 0),
          'first', jsonb_build_object(
            'added', coalesce(counted.first_added, '{}'), 'changed', coalesce(counted.first_changed, '{}'), 'removed', '[]'::jsonb
          ),
          'reports', publication.describe_changed_reports(
            changes.number, counted.first_added || counted.first_changed, changes.changed, changes.changed_parts
          )
        )
        order by changes.number desc
      ),
      '[]'
    )
    from publication.changes
    left join counted on counted.number = changes.number
    where not changes.number = any (read_numbers) or counted.number is not null
  );
end
$$;
comment on function publication.list_changes is
  'Returns the kept records of changes, newest first, like publication.describe_changes(), but only with reports that were added or changed and match the criteria: an auditee''s state, a program or agency, and UEIs, EINs and report IDs. is_read is false where too many reports changed to be looked at.';
grant execute on function publication.list_changes to site;
