-- The opposite of publication.list_earlier_findings(). If a report of a year between has the same number, its finding was repeated.
create or replace function publication.list_later_findings(asked_year text, numbers text[], reports text[])
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  with same_numbers as materialized (
    select finding_summaries.reference_number, finding_summaries.audit_year
    from disclosed.finding_summaries
    where finding_summaries.report_id = any (reports) and finding_summaries.audit_year > asked_year
      and finding_summaries.reference_number = any (numbers)
  ), repeats as materialized (
    select
      finding_summaries.report_id,
      finding_summaries.audit_year,
      finding_summaries.reference_number,
      (regexp_split_to_array(finding_summaries.prior_finding_ref_numbers, '[,;\s]+'))[1:200] as prior_numbers
    from disclosed.finding_summaries
    where finding_summaries.report_id = any (reports) and finding_summaries.audit_year > asked_year
      and finding_summaries.prior_finding_ref_numbers <> ''
    limit 2000
  )
  select coalesce(jsonb_agg(to_jsonb(later) order by later.audit_year, later.report_id, later.place), '[]')
  from (
    select
      earlier.number as repeats,
      repeats.report_id,
      repeats.audit_year,
      repeats.reference_number,
      publication.count_findings_before(repeats.report_id, repeats.reference_number) as place
    from repeats
    join unnest(numbers) as earlier (number) on earlier.number <> '' and earlier.number = any (repeats.prior_numbers)
    where not exists (
      select from same_numbers
      where same_numbers.reference_number = earlier.number and same_numbers.audit_year < repeats.audit_year
    )
    limit 200
  ) as later
$$;
comment on function publication.list_later_findings is
  'Returns up to 200 public findings that repeat the given year''s findings with these numbers. It looks in those of the given reports that are of later years.';
