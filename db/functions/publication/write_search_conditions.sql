-- The conditions of a search, as SQL. They refer to the criteria as $1, so no part of a search becomes SQL. A statement for
-- all criteria ("$1 ->> 'state' is null or …") could not use the indexes. The IDs come from a subquery, because PostgreSQL would
-- read all reports for "or".
create or replace function publication.write_search_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(string_agg(listed.condition, ' and '), 'false')
  from (
    -- The newest 1,001, because more are not counted. " + 0" keeps PostgreSQL from reading the index by date: it expects the reports of a
    -- year or city all over the index, but they may all be at its end.
    values (
      'general.report_id = any (array('
      'select terms.report_id from disclosed.search_terms as terms'
      ' where terms.terms @> array_remove(array[%s, $1 ->> ''state'', $1 ->> ''year'','
      ' case when $1 ? ''findings'' then ''findings'' end], null)'
      ' order by terms.fac_accepted_date%s desc nulls last, terms.report_id desc limit 1001))'
    )
  ) as newest (condition)
  cross join lateral (
    values
      ('report_ids', 'general.report_id = any (array(select jsonb_array_elements_text($1 -> ''report_ids'')))'),
      (
        'uei',
        'general.report_id = any (array('
        'select named.report_id from disclosed.general as named where named.auditee_uei = $1 ->> ''uei'' union all '
        'select named.report_id from disclosed.additional_ueis as named where named.additional_uei = $1 ->> ''uei''))'
      ),
      (
        'ein',
        'general.report_id = any (array('
        'select named.report_id from disclosed.general as named where named.auditee_ein = $1 ->> ''ein'' union all '
        'select named.report_id from disclosed.additional_eins as named where named.additional_ein = $1 ->> ''ein''))'
      ),
      ('auditor_ein', 'general.auditor_ein = $1 ->> ''auditor_ein'''),
      ('state', 'general.auditee_state = $1 ->> ''state'''),
      ('year', 'general.audit_year = $1 ->> ''year'''),
      ('name', 'extensions.name_words(general.auditee_name) @@ extensions.name_query($1 ->> ''name'')'),
      ('full_name', 'extensions.name_words(general.auditee_name) = extensions.name_words($1 ->> ''full_name'')'),
      (
        'name_beginnings',
        'extensions.name_words(general.auditee_name) @@ extensions.name_beginnings_query($1 ->> ''name_beginnings'')'
      ),
      (
        'name_and_city',
        'extensions.name_words(general.auditee_name || '', '' || general.auditee_city) @@ extensions.name_query($1 ->> ''name_and_city'')'
      ),
      ('auditor', 'extensions.name_words(general.auditor_firm_name) @@ extensions.name_query($1 ->> ''auditor'')'),
      (
        'secondary_auditor',
        'general.report_id = any (array('
        'select secondary.report_id from disclosed.secondary_auditors as secondary'
        ' where extensions.name_words(secondary.auditor_name) @@ extensions.name_query($1 ->> ''secondary_auditor'')))'
      ),
      (
        'secondary_auditor_ein',
        'general.report_id = any (array('
        'select secondary.report_id from disclosed.secondary_auditors as secondary'
        ' where secondary.auditor_ein = $1 ->> ''secondary_auditor_ein''))'
      ),
      (
        'findings',
        'exists (select from disclosed.finding_summaries as found where found.report_id = general.report_id)'
      ),
      (
        'agency',
        format(
          newest.condition, '$1 ->> ''agency'' || ''.'', $1 ->> ''agency'' || ''.'' || ($1 ->> ''program'')',
          case when criteria ?| array['program', 'state', 'year', 'findings'] then ' + 0' else '' end
        )
      ),
      ('city', format(newest.condition, 'extensions.city_term($1 ->> ''city'')', ' + 0'))
  ) as listed (criterion, condition)
  where criteria ? listed.criterion
$$;
comment on function publication.write_search_conditions is
  'Returns the conditions of a search as SQL that refers to the criteria as $1. Without known criteria, nothing matches.';
