-- Looks only at public rows. An ID has at most 100 reports here in which it is the auditee's own.
create or replace function publication.list_reports_of(ids text[])
returns table (id text, report_id text, is_own boolean)
language sql stable security invoker set search_path = ''
as $$
  with asked as materialized (
    select distinct listed.id from unnest(ids[:1000]) as listed (id)
  )
  select asked.id, general.report_id, true
  from asked
  join disclosed.general on general.report_id = asked.id
  union all
  select asked.id, own.report_id, true
  from asked
  cross join lateral (
    select general.report_id
    from disclosed.general
    where general.auditee_uei = asked.id
    order by general.report_id desc
    limit 100
  ) as own
  where length(asked.id) = 12
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
  'Returns the public reports of up to 1,000 UEIs, EINs and report IDs, also those in which a UEI or EIN is an additional one.';
