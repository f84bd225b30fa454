-- People know names, but a search for findings takes an ID. Names differ between reports, so one name in all its forms may belong to several
-- IDs, and an ID to several names. It reads only public reports, and no more than 3,000 of them. An auditee's reports from before 2022 have
-- no UEI, so an EIN counts only if it belongs to no UEI that has the name.
create or replace function publication.list_named_ids(kind text, written text, state text default null)
returns jsonb
language plpgsql stable security definer
set search_path = '' set plan_cache_mode = force_custom_plan
as $$
declare
  query constant tsquery := extensions.name_query("left"(written, 200));
begin
  return (
    with matching as materialized (
      (
        select
          case when general.auditee_uei ~ '^[A-Z0-9]{12}$' then general.auditee_uei else general.auditee_ein end as id,
          general.auditee_ein as ein,
          general.auditee_name as name,
          general.auditee_city as city,
          general.auditee_state as state,
          general.report_id
        from disclosed.general
        where list_named_ids.kind = 'auditee' and extensions.name_words(general.auditee_name) @@ query
          and (list_named_ids.state is null or general.auditee_state = any (string_to_array(list_named_ids.state, ',')))
        limit 3000
      )
      union all
      (
        select
          general.auditor_ein, null, general.auditor_firm_name, general.auditor_city, general.auditor_state, general.report_id
        from disclosed.general
        where list_named_ids.kind = 'auditor' and extensions.name_words(general.auditor_firm_name) @@ query
        limit 3000
      )
    ), grouped as (
      select
        matching.id,
        count(*) as reports,
        max(matching.report_id) as newest,
        bool_or(publication.simplify_name(matching.name) = spelled) as is_exact
      from matching
      cross join publication.simplify_name(written) as spelled
      where matching.id ~ '^([A-Z0-9]{12}|\d{9})$' and matching.id <> 'GSA_MIGRATION'
        and matching.id not in (select named.ein from matching as named where named.id <> named.ein)
      group by matching.id
    ), chosen as (
      -- If only one has exactly this name, it is meant.
      select grouped.*, count(*) filter (where grouped.is_exact) over () as exact, count(*) over () as ids from grouped
    )
    select jsonb_build_object(
      'total', coalesce(max(case when chosen.exact = 1 then 1 else chosen.ids end), 0),
      'is_cut', (select count(*) = 3000 from matching),
      'ids', coalesce(
        jsonb_agg(
          jsonb_build_object(
            'id', chosen.id, 'name', newest.name, 'city', newest.city, 'state', newest.state, 'reports', chosen.reports
          )
          order by chosen.is_exact desc, chosen.reports desc, chosen.id
        ),
        '[]'
      )
    )
    from (
      select chosen.*
      from chosen
      where chosen.is_exact or chosen.exact <> 1
      order by chosen.is_exact desc, chosen.reports desc, chosen.id
      limit 20
    ) as chosen
    cross join lateral (
      select matching.name, matching.city, matching.state
      from matching
      where matching.id = chosen.id and matching.report_id = chosen.newest
      limit 1
    ) as newest
  );
end
$$;
comment on function publication.list_named_ids is
  'Returns the UEIs and EINs of auditees (in a state, or in one of several that are separated by commas), or the EINs of auditors, that have a name with these words in public reports: the first 20, those with exactly this name first. If only one has exactly this name, returns only that. is_cut says whether more reports have the name than were read.';
grant execute on function publication.list_named_ids to site;
