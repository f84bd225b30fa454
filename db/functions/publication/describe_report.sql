-- What a page of a public report shows. It reads only public tables.
create or replace function publication.describe_report(asked_report_id text, asked_page integer default 1)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  general jsonb;
  findings jsonb;
begin
  select to_jsonb(source) into general from disclosed.general as source where source.report_id = asked_report_id;
  if general is null then
    return null;
  end if;
  findings := publication.list_findings(asked_report_id, 20 * (least(greatest(asked_page, 1), 1000) - 1));
  return jsonb_build_object(
    'general', general,
    'counts', publication.count_findings(asked_report_id),
    'findings', findings,
    'earlier', publication.list_earlier_findings(
      asked_report_id,
      array(
        select named.number
        from jsonb_array_elements(findings) as finding
        cross join lateral regexp_split_to_table(finding ->> 'prior_finding_ref_numbers', '[,;\s]+') as named (number)
        where named.number <> ''
        limit 200
      )
    ),
    -- Programs whose requirements the auditee did not meet, by the letter of the auditor's opinion.
    'modified_programs', (
      select coalesce(jsonb_object_agg(modified.audit_report_type, modified.programs), '{}')
      from (
        select
          awards.audit_report_type,
          count(distinct (awards.federal_agency_prefix, awards.federal_award_extension)) as programs
        from disclosed.federal_awards as awards
        where awards.report_id = asked_report_id and awards.audit_report_type in ('Q', 'A', 'D')
        group by awards.audit_report_type
      ) as modified
    ),
    'parts', publication.list_report_parts(asked_report_id),
    'other_reports', (
      select coalesce(jsonb_agg(to_jsonb(others) order by others.audit_year desc, others.report_id desc), '[]')
      from (
        select other.report_id, other.audit_year
        from disclosed.general as other
        where other.auditee_uei = general ->> 'auditee_uei' and other.auditee_uei <> 'GSA_MIGRATION'
          and other.report_id <> asked_report_id
        order by other.audit_year desc, other.report_id desc
        limit 20
      ) as others
    )
  );
end
$$;
comment on function publication.describe_report is
  'Returns what a page shows of a public report: its row in general, up to 20 findings, and the first rows of its other tables. Returns null if the report is suppressed, superseded or unknown.';
grant execute on function publication.describe_report to site;
