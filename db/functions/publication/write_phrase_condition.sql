create or replace function publication.write_phrase_condition(alternative bigint, quantifier text, excluded boolean)
returns text
language sql immutable strict security invoker set search_path = ''
as $$
  select '((findings.report_id, findings.reference_number) in ('
    || string_agg(
      format(
        'select read.report_id, read.finding_ref_number from ('
        'select texts.report_id, texts.finding_ref_number, string_agg(texts.%1$I, '''' order by texts.row_number) as document'
        ' from disclosed.%2$I as texts'
        ' where texts.report_id = any (array(select distinct candidates.report_id from candidates))'
        ' and (texts.report_id, texts.finding_ref_number) in (select candidates.report_id, candidates.reference_number from candidates)'
        ' group by texts.report_id, texts.finding_ref_number) as read where read.document ~* %3$s (publication.list_phrases($1 ->> ''words'', %4$s, %5$L))',
        listed.column_name, listed.table_name, quantifier, alternative, excluded
      ),
      ' union all '
    )
    || '))'
  from (
    values ('findings_text', 'finding_text'), ('corrective_action_plans', 'planned_action')
  ) as listed (table_name, column_name)
$$;
comment on function publication.write_phrase_condition is
  'Returns the condition that a finding among the candidates has all or any phrases of an alternative of a search, as SQL that refers to the criteria as $1.';
