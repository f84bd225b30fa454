-- "is true" keeps PostgreSQL from joining the texts. See write_finding_conditions().
create or replace function publication.write_words_condition(alternatives integer[] default null, since text default null)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select '((findings.report_id, findings.reference_number) in ('
    || string_agg(
      format(
        'select texts.report_id, texts.finding_ref_number from disclosed.%2$I as texts'
        ' where extensions.text_words(texts.%1$I) @@ publication.words_query($1 ->> ''words'', %3$L)%4$s',
        listed.column_name, listed.table_name, alternatives, ' and (texts.fac_accepted_date >= ' || since || ') is not false'
      ),
      ' union all '
    )
    || ') is true)'
  from (
    values ('findings_text', 'finding_text'), ('corrective_action_plans', 'planned_action')
  ) as listed (table_name, column_name)
$$;
comment on function publication.write_words_condition is
  'Returns the condition that a finding has a text or plan with the words of a search, or of some of its alternatives, as SQL that refers to the criteria as $1. "since" is SQL too: it leaves out texts of reports that were accepted before.';
