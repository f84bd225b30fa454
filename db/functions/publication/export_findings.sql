-- The findings of a search, for a spreadsheet. It reads only the public tables. See search_findings() for the settings. A spreadsheet
-- cell holds 32,767 characters, but 500 findings with texts of that length would be 30 MB.
create or replace function publication.export_findings(criteria jsonb)
returns json
language plpgsql stable security definer
set search_path = '' set work_mem = '32MB' set max_parallel_workers_per_gather = 0 set synchronize_seqscans = off set enable_seqscan = off
as $$
declare
  has_texts constant boolean := coalesce(criteria ->> 'texts' = 'Y', false);
  of_awards constant text := publication.write_award_conditions(criteria);
  most constant integer := case
    when has_texts then 500
    when publication.list_phrases(criteria ->> 'words') is null then 5000
    else 3000
  end;
  found json;
begin
  execute format(
    $query$
      with candidates as materialized (
        select findings.* from disclosed.finding_summaries as findings where %s limit $2
      ), matches as materialized (
        select findings.* from candidates as findings where %s
      ), programs as materialized (
        select distinct totals.aln, totals.federal_program_name
        from disclosed.totals_by_program as totals
        where totals.aln in (select unnest(matches.alns) from matches)
      ), places as materialized (
        -- publication.count_findings_before() would read a report's findings once for each of them.
        select
          findings.report_id,
          findings.reference_number,
          row_number() over (partition by findings.report_id order by findings.reference_number) - 1 as place
        from disclosed.finding_summaries as findings
        where findings.report_id in (select matches.report_id from matches)
      )
      select coalesce(json_agg(listed), '[]')
      from (
        select
          general.auditee_name,
          general.auditee_ein,
          general.auditee_city,
          general.auditor_firm_name,
          array(
            select coalesce(programs.federal_program_name, 'not stated')
            from unnest(matches.alns) with ordinality as numbers (aln, place)
            left join programs on programs.aln = numbers.aln
            order by numbers.place
          ) as federal_program_name,
          coalesce(places.place, publication.count_findings_before(matches.report_id, matches.reference_number)) as place,
          matches.report_id,
          matches.auditee_uei,
          matches.audit_year,
          matches.fac_accepted_date,
          matches.reference_number,
          matches.auditee_state,
          matches.entity_type,
          matches.alns,
          matches.type_requirement,
          matches.is_material_weakness,
          matches.is_significant_deficiency,
          matches.is_modified_opinion,
          matches.is_other_matters,
          matches.is_other_findings,
          matches.is_questioned_costs,
          matches.is_repeat_finding,
          matches.prior_finding_ref_numbers,
          matches.is_direct,
          matches.awards,
          matches.amount_expended %s %s
        from matches
        join disclosed.general on general.report_id = matches.report_id
        left join places on places.report_id = matches.report_id and places.reference_number = matches.reference_number
        order by matches.fac_accepted_date desc nulls last, matches.report_id desc, matches.reference_number
      ) as listed
    $query$,
    publication.write_finding_conditions(criteria),
    publication.write_phrase_conditions(criteria),
    case when has_texts then ', publication.join_texts(matches.report_id, matches.reference_number, 10000) as texts' end,
    ', case when matches.awards = 1 then jsonb_build_object(''awards'', 1, ''amount_expended'', matches.amount_expended)'
    ' else (select jsonb_build_object(''awards'', count(*), ''amount_expended'', sum(awards.amount_expended))'
    ' from disclosed.findings as rows join disclosed.federal_awards as awards'
    ' on awards.report_id = rows.report_id and awards.award_reference = rows.award_reference'
    ' where rows.report_id = matches.report_id and rows.reference_number = matches.reference_number and ' || of_awards
    || ') end as matching'
  )
  into found
  using criteria, most;
  return found;
end
$$;
comment on function publication.export_findings is
  'Returns up to 5,000 public findings that match all criteria, their auditees'' names, EINs and cities, their auditors'' names, the most frequent name of each of their programs, and "place": how many findings are before each in its report. If a search filters awards, "matching" has the number and amount of each finding''s awards that match. With the criterion texts = Y, it returns up to 500 findings with the first 10,000 characters of their texts and plans. A text that was cut ends with a note that says so.';
grant execute on function publication.export_findings to site;
