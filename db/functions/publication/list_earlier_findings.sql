-- A finding names the finding that it repeats only by its number. It is looked for in the auditee's earlier reports. Many older
-- reports have no UEI, so theirs are found by the EIN.
create or replace function publication.list_earlier_findings(asked_report_id text, numbers text[])
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(earlier)), '[]')
  from (
    select distinct on (finding_summaries.reference_number)
      finding_summaries.reference_number,
      finding_summaries.report_id,
      -- How many findings are before it.
      (
        select count(*)
        from disclosed.finding_summaries as before
        where before.report_id = finding_summaries.report_id and before.reference_number < finding_summaries.reference_number
      ) as place
    from disclosed.general as asked
    cross join lateral (
      select general.report_id, general.audit_year
      from disclosed.general
      where general.audit_year < asked.audit_year and (
        (general.auditee_uei = asked.auditee_uei and asked.auditee_uei <> 'GSA_MIGRATION')
        or (general.auditee_ein = asked.auditee_ein and asked.auditee_uei = 'GSA_MIGRATION')
      )
      limit 100
    ) as reports
    join disclosed.finding_summaries on finding_summaries.report_id = reports.report_id
      and finding_summaries.reference_number = any (numbers)
    where asked.report_id = asked_report_id
    order by finding_summaries.reference_number, reports.audit_year desc
  ) as earlier
$$;
comment on function publication.list_earlier_findings is
  'Returns where the public findings with these numbers are in earlier reports of a report''s auditee.';
