-- The words of each phrase must be next to each other in a text or plan of the finding. "offset 0" makes PostgreSQL compare only the texts
-- of candidates with the phrases.
create or replace function publication.write_phrase_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(
    '(findings.report_id, findings.reference_number) in ('
    || string_agg(
      format(
        'select read.report_id, read.finding_ref_number from ('
        'select texts.report_id, texts.finding_ref_number, texts.%1$I as document from disclosed.%2$I as texts'
        ' where texts.report_id = any (array(select distinct candidates.report_id from candidates))'
        ' and (texts.report_id, texts.finding_ref_number) in (select candidates.report_id, candidates.reference_number from candidates)'
        ' offset 0) as read where read.document ~* all (publication.list_phrases($1 ->> ''words''))',
        listed.column_name, listed.table_name
      ),
      ' union all '
    )
    || ')',
    'true'
  )
  from (
    values ('findings_text', 'finding_text'), ('corrective_action_plans', 'planned_action')
  ) as listed (table_name, column_name)
  where publication.list_phrases(criteria ->> 'words') is not null
$$;
comment on function publication.write_phrase_conditions is
  'Returns the condition that a finding among the candidates has each phrase of a search, as SQL that refers to the criteria as $1.';
