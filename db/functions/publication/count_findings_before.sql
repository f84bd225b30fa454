create or replace function publication.count_findings_before(asked_report_id text, number text)
returns bigint
language sql stable security invoker set search_path = ''
as $$
  select count(*)
  from disclosed.finding_summaries
  where finding_summaries.report_id = asked_report_id and (finding_summaries.reference_number < number or number is null)
    and finding_summaries.reference_number is not null
$$;
comment on function publication.count_findings_before is
  'Returns how many findings of a public report are before the one with this number, on the report''s page. A finding without a number is the last.';
