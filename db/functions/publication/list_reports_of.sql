-- Looks only at public rows. Returns at most 100 reports for each ID that is the auditee's own. Older reports have no UEI, so a UEI also
-- finds reports without a UEI that have one of its EINs, like publication.list_auditee_reports(), which is too slow for 1,000 IDs.
create or replace function publication.list_reports_of(ids text[])
returns table (id text, report_id text, is_own boolean)
language sql stable security invoker set search_path = ''
as $$
  with asked as materialized (
    select distinct listed.id from unnest(ids[:1000]) as listed (id)
  ), by_uei as materialized (
    select asked.id, own.report_id, own.auditee_ein
    from asked
    cross join lateral (
      select general.report_id, general.auditee_ein
      from disclosed.general
      where general.auditee_uei = asked.id
      order by general.report_id desc
      limit 100
    ) as own
    where length(asked.id) = 12
  ), without_uei as materialized (
    select eins.auditee_ein, own.report_id
    from (select distinct by_uei.auditee_ein from by_uei where by_uei.auditee_ein ~ '^\d{9}$') as eins
    cross join lateral (
      select general.report_id
      from disclosed.general
      where general.auditee_ein = eins.auditee_ein
        and (general.auditee_uei is null or general.auditee_uei in ('', 'GSA_MIGRATION'))
      order by general.report_id desc
      limit 100
    ) as own
  )
  select asked.id, general.report_id, true
  from asked
  join disclosed.general on general.report_id = asked.id
  union all
  select by_uei.id, by_uei.report_id, true from by_uei
  union all
  select listed.id, without_uei.report_id, true
  from (select distinct by_uei.id, by_uei.auditee_ein from by_uei) as listed
  join without_uei on without_uei.auditee_ein = listed.auditee_ein
  union all
  select asked.id, own.report_id, true
  from asked
  cross join lateral (
    select general.report_id
    from disclosed.general
    where general.auditee_ein = asked.id
    order by general.report_id desc
    limit 100
  ) as own
  where length(asked.id) = 9
  union all
  select additional_ueis.additional_uei, additional_ueis.report_id, false
  from disclosed.additional_ueis
  where additional_ueis.additional_uei in (select asked.id from asked)
  union all
  select additional_eins.additional_ein, additional_eins.report_id, false
  from disclosed.additional_eins
  where additional_eins.additional_ein in (select asked.id from asked)
$$;
comment on function publication.list_reports_of is
  'Returns the public reports of up to 1,000 UEIs, EINs and report IDs, including reports in which a UEI or EIN is an additional one, and reports without a UEI that have an EIN of a listed UEI.';
