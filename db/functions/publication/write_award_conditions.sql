-- A finding has a row for each of its awards, and one row must meet all conditions. Otherwise, a finding on a direct award of one agency and
-- a passed-through award of another would match a search for direct awards of the second agency.
create or replace function publication.write_award_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select string_agg(listed.condition, ' and ')
  from (
    values
      (
        'aln',
        '(awards.federal_agency_prefix, awards.federal_award_extension)'
        ' = (split_part($1 ->> ''aln'', ''.'', 1), split_part($1 ->> ''aln'', ''.'', 2))'
      ),
      (
        'aln_and_letters',
        'awards.federal_agency_prefix || ''.'' || awards.federal_award_extension'
        ' = any (array(select numbers.aln from publication.list_program_numbers($1 ->> ''aln_and_letters'') as numbers))'
      ),
      ('agency', 'awards.federal_agency_prefix = $1 ->> ''agency'''),
      ('direct', 'awards.is_direct = $1 ->> ''direct'''),
      ('requirement', 'translate(rows.type_requirement, replace($1 ->> ''requirement'', '','', ''''), '''') <> rows.type_requirement'),
      ('material_weakness', 'rows.is_material_weakness = ''Y'''),
      ('significant_deficiency', 'rows.is_significant_deficiency = ''Y'''),
      ('questioned_costs', 'rows.is_questioned_costs = ''Y'''),
      ('repeat', 'rows.is_repeat_finding = ''Y''')
  ) as listed (criterion, condition)
  where criteria ? listed.criterion and criteria ?| array['aln', 'aln_and_letters', 'agency', 'direct']
$$;
comment on function publication.write_award_conditions is
  'Returns the conditions of a search that one row of a finding and its award must meet together, as SQL that refers to the criteria as $1; null if none concerns awards.';
