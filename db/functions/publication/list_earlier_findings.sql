-- A finding names the finding that it repeats only by number. This looks for the number in public reports from earlier years.
create or replace function publication.list_earlier_findings(asked_year text, numbers text[], reports text[])
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(earlier)), '[]')
  from (
    select distinct on (finding_summaries.reference_number)
      finding_summaries.reference_number,
      finding_summaries.report_id,
      publication.count_findings_before(finding_summaries.report_id, finding_summaries.reference_number) as place
    from disclosed.finding_summaries
    where finding_summaries.report_id = any (reports) and finding_summaries.audit_year < asked_year
      and finding_summaries.reference_number = any (numbers)
    order by finding_summaries.reference_number, finding_summaries.audit_year desc
  ) as earlier
$$;
comment on function publication.list_earlier_findings is
  'Returns the public findings with these numbers in those of the given reports that are older than the given year.';
