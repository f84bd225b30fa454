-- The conditions of a search for findings, as SQL. They refer to the criteria as $1, so no part of a search becomes SQL. "is true"
-- keeps PostgreSQL from joining reports: a scan of the findings in their order, with the reports in a hash table, finds the newest
-- first. The words must all be in the text or all in the plan. Year, state, entity type and requirement may have several values,
-- separated by commas. A finding must match one of them.
create or replace function publication.write_finding_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(string_agg(listed.condition, ' and '), 'true') || coalesce(
    -- With "exists", PostgreSQL would read all awards first.
    ' and (' || case
      when criteria ?| array['requirement', 'material_weakness', 'significant_deficiency', 'questioned_costs', 'repeat']
        then 'findings.has_equal_rows'
    end
    || ' or (select true from disclosed.findings as rows'
    ' join disclosed.federal_awards as awards on awards.report_id = rows.report_id and awards.award_reference = rows.award_reference'
    ' where rows.report_id = findings.report_id and rows.reference_number = findings.reference_number and '
    || publication.write_award_conditions(criteria) || ' limit 1))',
    ''
  )
  from (
    select max(numbers.criterion) as criterion, max(numbers.alns) as alns
    from (
      values
        ('aln', 'array[$1 ->> ''aln'']'),
        (
          'aln_and_letters',
          'array(select numbers.aln from publication.list_program_numbers($1 ->> ''aln_and_letters'') as numbers)'
        ),
        (
          'agency',
          -- The index finds whole program numbers, but not their beginnings.
          'array(select distinct programs.aln from disclosed.totals_by_program as programs'
          ' where starts_with(programs.aln, ($1 ->> ''agency'') || ''.''))'
        )
    ) as numbers (criterion, alns)
    where criteria ? numbers.criterion
  ) as programs
  cross join lateral (
    values
      ('report_ids', 'findings.report_id = any (array(select jsonb_array_elements_text($1 -> ''report_ids'')))'),
      ('auditee', 'findings.report_id = any (array(select publication.list_auditee_reports($1 ->> ''auditee'')))'),
      (
        'auditor',
        -- Some auditors have tens of thousands of reports. Looking these up would take longer than a scan, and would not find the newest first.
        '(findings.report_id in ('
        'select general.report_id from disclosed.general where general.auditor_ein = $1 ->> ''auditor'')) is true'
      ),
      (
        'u',
        -- As of an auditor: a list may have more findings than are counted.
        '(findings.report_id in ('
        'select listed.report_id from publication.list_reports_of(string_to_array($1 ->> ''u'', '','')) as listed)) is true'
      ),
      ('year', 'findings.audit_year = any (string_to_array($1 ->> ''year'', '',''))'),
      ('state', 'findings.auditee_state = any (string_to_array($1 ->> ''state'', '',''))'),
      ('entity_type', 'findings.entity_type = any (string_to_array($1 ->> ''entity_type'', '',''))'),
      ('accepted_since', 'findings.fac_accepted_date >= ($1 ->> ''accepted_since'')::date'),
      (programs.criterion, 'findings.alns && ' || programs.alns),
      ('requirement', 'translate(findings.type_requirement, replace($1 ->> ''requirement'', '','', ''''), '''') <> findings.type_requirement'),
      ('material_weakness', 'findings.is_material_weakness = ''Y'''),
      ('significant_deficiency', 'findings.is_significant_deficiency = ''Y'''),
      ('questioned_costs', 'findings.is_questioned_costs = ''Y'''),
      ('repeat', 'findings.is_repeat_finding = ''Y'''),
      (
        'direct',
        case
          when programs.alns is null then 'findings.is_direct in ($1 ->> ''direct'', ''Both'')'
          when criteria ->> 'direct' = 'Y' then 'findings.direct_alns && ' || programs.alns
          else 'findings.passed_through_alns && ' || programs.alns
        end
      ),
      ('words', publication.write_words_condition())
  ) as listed (criterion, condition)
  where criteria ? listed.criterion
$$;
comment on function publication.write_finding_conditions is
  'Returns the conditions of a search for findings as SQL that refers to the criteria as $1.';
