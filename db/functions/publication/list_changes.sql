-- Reads only reports that are public now. Reports that were removed are left out, because they may have been suppressed. A publication
-- that changed more than 50,000 reports is not read, and no more than 100,000 reports are read in all.
create or replace function publication.list_changes(criteria jsonb)
returns jsonb
language plpgsql stable security definer
set search_path = '' set max_parallel_workers_per_gather = 0 set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  of_state constant text := criteria ->> 'state';
  of_aln constant text := criteria ->> 'aln';
  of_reports text[];
begin
  if criteria ? 'ids' then
    of_reports := array(
      select found.report_id
      from publication.list_reports_of(array(select jsonb_array_elements_text(criteria -> 'ids'))) as found
    );
  end if;
  return (
    with sized as (
      select changes.*, cardinality(changes.added) + cardinality(changes.changed) as reports
      from publication.changes
    ), summed as (
      select
        sized.*,
        sized.reports <= 50000
        and sum(sized.reports) filter (where sized.reports <= 50000) over (order by sized.number desc) <= 100000 as is_read
      from sized
    ), listed as (
      select summed.number, 'added' as kind, unnest(summed.added) as report_id from summed where summed.is_read
      union all
      select summed.number, 'changed', unnest(summed.changed) from summed where summed.is_read
    ), matching as materialized (
      select
        listed.number,
        listed.kind,
        general.report_id,
        general.auditee_name,
        row_number() over (partition by listed.number, listed.kind order by general.report_id) as place
      from listed
      join disclosed.general on general.report_id = listed.report_id
      where (of_reports is null or listed.report_id = any (of_reports))
        and (of_state is null or general.auditee_state = of_state)
        and (
          of_aln is null
          or listed.report_id in (
            select terms.report_id
            from disclosed.search_terms as terms
            where terms.terms @> array[case when of_aln like '%.%' then of_aln else of_aln || '.' end]
          )
        )
    ), counted as (
      select
        matching.number,
        count(*) filter (where matching.kind = 'added') as added,
        count(*) filter (where matching.kind = 'changed') as changed,
        coalesce(jsonb_agg(matching.report_id order by matching.place) filter (where matching.kind = 'added' and matching.place <= 100), '[]') as first_added,
        coalesce(jsonb_agg(matching.report_id order by matching.place) filter (where matching.kind = 'changed' and matching.place <= 100), '[]') as first_changed,
        jsonb_object_agg(matching.report_id, matching.auditee_name) filter (where matching.place <= 100) as names
      from matching
      group by matching.number
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'number', summed.number,
          'published_at', summed.published_at,
          'data_set', summed.to_data_set,
          'is_read', summed.is_read,
          'counts', jsonb_build_object('added', coalesce(counted.added, 0), 'changed', coalesce(counted.changed, 0), 'removed', 0),
          'first', jsonb_build_object(
            'added', coalesce(counted.first_added, '[]'), 'changed', coalesce(counted.first_changed, '[]'), 'removed', '[]'::jsonb
          ),
          'names', coalesce(counted.names, '{}')
        )
        order by summed.number desc
      ),
      '[]'
    )
    from summed
    left join counted on counted.number = summed.number
    where not summed.is_read or counted.number is not null
  );
end
$$;
comment on function publication.list_changes is
  'Returns the kept records of changes, newest first, like publication.describe_changes(), but only with reports that were added or changed and match the criteria: an auditee''s state, a program or agency, and UEIs, EINs and report IDs. is_read is false where too many reports changed to be looked at.';
grant execute on function publication.list_changes to report_service, site;
