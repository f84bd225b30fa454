-- What a page of a public report shows. It reads only public tables.
create or replace function publication.describe_report(asked_report_id text, asked_page integer default 1)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  general jsonb;
  result jsonb;
  counts jsonb;
  findings jsonb;
  parts jsonb;
  of_auditee text[];
begin
  select to_jsonb(source) into general from disclosed.general as source where source.report_id = asked_report_id;
  if general is null then
    return null;
  end if;
  select described.result, described.counts into result, counts
  from publication.describe_results(array[asked_report_id]) as described;
  findings := publication.list_findings(asked_report_id, 20 * (least(greatest(asked_page, 1), 1000) - 1));
  of_auditee := array(
    select publication.list_auditee_reports(publication.choose_auditee_id(general ->> 'auditee_uei', general ->> 'auditee_ein'))
  );
  parts := publication.list_report_parts(asked_report_id);
  return jsonb_build_object(
    'general', general,
    'counts', counts,
    'result', result,
    -- A public row never names a suppressed report. This is an object, because publication.find_neighbor_leaks() looks for the key report_id.
    'replaced', (
      select to_jsonb(replaced)
      from (
        select resubmission.previous_report_id as report_id
        from disclosed.resubmission
        where resubmission.report_id = asked_report_id and resubmission.previous_report_id is not null
      ) as replaced
    ),
    'management_decision_due', case
      when (counts ->> 'findings')::bigint > 0 then publication.decision_due((general ->> 'fac_accepted_date')::date)
    end,
    'findings', findings,
    'earlier', publication.list_earlier_findings(
      general ->> 'audit_year',
      array(
        select named.number
        from jsonb_array_elements(findings) as finding
        cross join lateral regexp_split_to_table(finding ->> 'prior_finding_ref_numbers', '[,;\s]+') as named (number)
        where named.number <> ''
        limit 200
      ),
      of_auditee
    ),
    'later', publication.list_later_findings(
      general ->> 'audit_year',
      array(select distinct finding ->> 'reference_number' from jsonb_array_elements(findings) as finding),
      of_auditee
    ),
    'parts', parts,
    -- Only of the awards that the page shows.
    'award_findings', (
      select coalesce(jsonb_object_agg(counted.award_reference, counted.findings), '{}')
      from (
        select findings.award_reference, count(distinct findings.reference_number) as findings
        from disclosed.findings
        where findings.report_id = asked_report_id
          and findings.award_reference in (select award ->> 'award_reference' from jsonb_array_elements(parts -> 'federal_awards' -> 'rows') as award)
        group by findings.award_reference
      ) as counted
    ),
    'other_reports', (
      select coalesce(jsonb_agg(to_jsonb(others) order by others.audit_year desc nulls last, others.report_id desc), '[]')
      from (
        select other.report_id, other.audit_year
        from disclosed.general as other
        where other.report_id = any (of_auditee) and other.report_id <> asked_report_id
        order by other.audit_year desc nulls last, other.report_id desc
        limit 20
      ) as others
    )
  );
end
$$;
comment on function publication.describe_report is
  'Returns what a page shows of a public report: its row in general, up to 20 findings, and the first rows of its other tables. Returns null if the report is suppressed, superseded or unknown.';
grant execute on function publication.describe_report to site;
