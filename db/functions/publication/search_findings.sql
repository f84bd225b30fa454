-- The pages' search for findings. It reads only the public tables, so a suppressed submission is like one that does not exist. The
-- table has the newest findings first. The settings make PostgreSQL read it in this order, stop at the 10,001st match, and find words by
-- their indexes, because a scan would read the words of each finding.
create or replace function publication.search_findings(criteria jsonb, skipped integer default 0)
returns jsonb
language plpgsql stable security definer
set search_path = '' set work_mem = '32MB' set max_parallel_workers_per_gather = 0 set synchronize_seqscans = off set enable_seqscan = off
as $$
declare
  has_phrases constant boolean := publication.list_phrases(criteria ->> 'words') is not null;
  words constant tsquery := publication.words_query(criteria ->> 'words');
  is_of_one constant boolean := criteria ? 'auditee' or coalesce(criteria ->> 'u' !~ ',', false);
  of_awards constant text := case
    when criteria ?| array['aln', 'aln_and_letters', 'agency'] then publication.write_award_conditions(criteria)
  end;
  found jsonb;
begin
  -- A search for nothing but words such as "the" finds nothing.
  if criteria ? 'words' and words is null then
    return jsonb_build_object('total', 0, 'counts', jsonb_build_array(), 'rows', jsonb_build_array(), 'lacks_words', true);
  end if;
  execute format(
    $query$
      with candidates as materialized (
        select findings.* from disclosed.finding_summaries as findings where %s limit $4
      ), matches as materialized (
        select findings.* from candidates as findings where %s
      ), counted as (
        select 'year' as name, matches.audit_year as value, count(*) as findings from matches group by matches.audit_year
        union all
        select 'state', matches.auditee_state, count(*) from matches group by matches.auditee_state
        union all
        select 'entity_type', matches.entity_type, count(*) from matches group by matches.entity_type
        union all
        select 'requirement', letter, sum(alike.findings)
        from (
          select matches.type_requirement, count(*) as findings from matches group by matches.type_requirement
        ) as alike
        cross join regexp_split_to_table(alike.type_requirement, '') as letter
        group by letter
        union all
        select 'agency', agency, sum(alike.findings)
        from (select matches.alns, count(*) as findings from matches group by matches.alns) as alike
        cross join lateral (select distinct split_part(aln, '.', 1) as agency from unnest(alike.alns) as aln) as agencies
        group by agency
        union all
        select flags.name, 'Y', flags.findings
        from (
          select
            count(*) filter (where matches.is_material_weakness = 'Y') as material_weakness,
            count(*) filter (where matches.is_significant_deficiency = 'Y') as significant_deficiency,
            count(*) filter (where matches.is_questioned_costs = 'Y') as questioned_costs,
            count(*) filter (where matches.is_repeat_finding = 'Y') as repeat,
            count(*) filter (where matches.is_direct in ('Y', 'Both')) as direct,
            count(*) filter (where matches.is_direct in ('N', 'Both')) as passed_through
          from matches
        ) as sums
        cross join lateral (
          values
            ('material_weakness', sums.material_weakness), ('significant_deficiency', sums.significant_deficiency),
            ('questioned_costs', sums.questioned_costs), ('repeat', sums.repeat),
            ('direct', sums.direct), ('passed_through', sums.passed_through)
        ) as flags (name, findings)
        where flags.findings > 0
      ), own as materialized (
        select array(select publication.list_auditee_reports($1 ->> 'auditee')) as reports
      ), shown as (
        select
          matches.*,
          row_number() over (
            order by matches.fac_accepted_date desc nulls last, matches.report_id desc, matches.reference_number
          ) as place
        from matches
        order by place
        limit 20 offset $2
      ), written as materialized (
        select
          shown.place,
          texts.text,
          plans.text as plan,
          -- The texts of one auditee's or report's findings are whole within the bounds of list_findings(), because people print them.
          case
            when not $6 then 300
            when coalesce(sum(coalesce(length(texts.text), 0) + coalesce(length(plans.text), 0)) over (
              order by shown.place rows between unbounded preceding and 1 preceding
            ), 0) < 100000 then 50000
            else 2000
          end as longest
        from shown
        cross join lateral (
          select string_agg(parts.finding_text, '' order by parts.row_number) as text
          from disclosed.findings_text as parts
          where parts.report_id = shown.report_id and parts.finding_ref_number = shown.reference_number
        ) as texts
        cross join lateral (
          select string_agg(parts.planned_action, '' order by parts.row_number) as text
          from disclosed.corrective_action_plans as parts
          where parts.report_id = shown.report_id and parts.finding_ref_number = shown.reference_number
        ) as plans
      )
      select jsonb_build_object(
        'total', (select count(*) from matches),
        'words', publication.read_words($1 ->> 'words'),
        'related', publication.list_related_programs($1 ->> 'aln'),
        'numbers', (
          select jsonb_agg(to_jsonb(numbers) order by numbers.aln)
          from publication.list_program_numbers($1 ->> 'aln_and_letters') as numbers
        ),
        'unknown', publication.suggest_ids(array_remove(string_to_array($1 ->> 'u', ',') || ($1 ->> 'auditee'), null)),
        'replaced', publication.list_successors(string_to_array($1 ->> 'u', ',')),
        'names', jsonb_strip_nulls(jsonb_build_object(
          'auditee', (
            select general.auditee_name from own join disclosed.general on general.report_id = any (own.reports)
            order by general.report_id desc limit 1
          ),
          'auditor', (
            select general.auditor_firm_name from disclosed.general where general.auditor_ein = $1 ->> 'auditor'
            order by general.report_id desc limit 1
          )
        )),
        'is_of_one', $6,
        'is_cut', $5 and (select count(*) = $4 from candidates),
        'counts', (select coalesce(jsonb_agg(to_jsonb(counted) order by counted.findings desc, counted.value), '[]') from counted where counted.value <> ''),
        'rows', (
          select coalesce(jsonb_agg(
            to_jsonb(shown) - array['text_words', 'plan_words'] || jsonb_build_object(
              'auditee_name', general.auditee_name,
              'auditee_city', general.auditee_city,
              'text', publication.excerpt_text(written.text, $3, written.longest),
              -- An auditee's findings are shown with their plans.
              'plan', case
                when $3 is null or extensions.text_words(written.plan) @@ $3 then publication.excerpt_text(written.plan, $3, written.longest)
                when $6 then publication.excerpt_text(written.plan, null, written.longest)
              end,
              'management_decision_due', publication.decision_due(shown.fac_accepted_date),
              'asked_alns', %s,
              'place', publication.count_findings_before(shown.report_id, shown.reference_number),
              'earlier', case when shown.prior_finding_ref_numbers <> '' then publication.list_earlier_findings(
                shown.audit_year,
                (regexp_split_to_array(shown.prior_finding_ref_numbers, '[,;\s]+'))[1:200],
                array(
                  select publication.list_auditee_reports(publication.choose_auditee_id(general.auditee_uei, general.auditee_ein))
                )
              ) end
            )
            order by shown.place
          ), '[]')
          from shown
          join written on written.place = shown.place
          join disclosed.general on general.report_id = shown.report_id
        )
      )
    $query$, publication.write_finding_conditions(criteria), publication.write_phrase_conditions(criteria),
    coalesce(
      'array(select distinct awards.federal_agency_prefix || ''.'' || awards.federal_award_extension'
      ' from disclosed.findings as rows join disclosed.federal_awards as awards'
      ' on awards.report_id = rows.report_id and awards.award_reference = rows.award_reference'
      ' where rows.report_id = shown.report_id and rows.reference_number is not distinct from shown.reference_number and ' || of_awards || ')',
      '''{}''::text[]'
    )
  )
  into found
  using
    criteria, least(greatest(skipped, 0), 9980), words, case when has_phrases then 3000 else 10001 end, has_phrases,
    is_of_one;
  return found;
end
$$;
comment on function publication.search_findings is
  'Searches the public findings. The criteria must all match. Returns how many findings match (10001: more than 10,000), how many of the first 10,001 have each value of each filter, and up to 20 findings, the newest first, with excerpts of their texts. Phrases between quotation marks are looked for in the newest 3,000 findings that have all words; is_cut says whether there are more. In an excerpt, U+0001 and U+0002 surround each word that was searched for. "related" has the other numbers of the program that is searched for, and "numbers" those that are counted together. "unknown" has the IDs of the search that no public report has, as publication.suggest_ids() returns them, and "replaced" the reports that replaced them, as publication.list_successors() returns them. "is_of_one" says whether the search is of one auditee or report: then, texts are whole up to 50,000 characters each and about 100,000 together. "asked_alns" has the programs of a finding whose awards match the search. "earlier" has the public findings that a finding repeats, and "place" how many findings are before it in its report.';
grant execute on function publication.search_findings to site;
