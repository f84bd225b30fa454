-- Older reports have no UEI, so a UEI also finds the reports of its EINs that have none. Some EINs are in thousands of reports.
create or replace function publication.list_auditee_reports(asked_id text)
returns setof text
language sql stable strict security invoker set search_path = ''
as $$
  with by_uei as materialized (
    select general.report_id, general.auditee_ein
    from disclosed.general
    where general.auditee_uei = asked_id and asked_id <> 'GSA_MIGRATION'
    limit 1000
  )
  select by_uei.report_id from by_uei
  union
  (
    select general.report_id
    from disclosed.general
    where general.auditee_ein in (select by_uei.auditee_ein from by_uei where by_uei.auditee_ein ~ '^\d{9}$')
      and (general.auditee_uei is null or general.auditee_uei in ('', 'GSA_MIGRATION'))
    limit 1000
  )
  union
  (
    select general.report_id from disclosed.general where general.auditee_ein = asked_id and asked_id ~ '^\d{9}$' limit 1000
  )
$$;
comment on function publication.list_auditee_reports is
  'Returns the public reports of the auditee with a UEI or EIN. Includes reports that have the auditee''s EIN and no UEI.';
