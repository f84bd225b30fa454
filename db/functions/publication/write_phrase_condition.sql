create or replace function publication.write_phrase_condition(alternative bigint, quantifier text, excluded boolean)
returns text
language sql immutable strict security invoker set search_path = ''
as $$
  select '(' || string_agg(
    format(
      'coalesce((select string_agg(texts.%1$I, '''' order by texts.row_number) from disclosed.%2$I as texts'
      ' where texts.report_id = findings.report_id and texts.finding_ref_number = findings.reference_number)'
      ' ~* %3$s (publication.list_phrases($1 ->> ''words'', %4$s, %5$L)), false)',
      listed.column_name, listed.table_name, quantifier, alternative, excluded
    ),
    ' or '
  ) || ')'
  from (
    values ('findings_text', 'finding_text'), ('corrective_action_plans', 'planned_action')
  ) as listed (table_name, column_name)
$$;
comment on function publication.write_phrase_condition is
  'Returns the condition that a finding''s text or plan has all or any of the phrases of an alternative of a search, as SQL that refers to the criteria as $1.';
