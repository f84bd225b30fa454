create or replace function publication.list_programs()
returns table (aln text, federal_program_name text, names text, awards numeric)
language sql stable security invoker set search_path = ''
as $$
  -- All rows of a program have the same names.
  select
    totals_by_program.aln,
    any_value(totals_by_program.federal_program_name),
    any_value(totals_by_program.names),
    sum(totals_by_program.awards)
  from disclosed.totals_by_program
  where totals_by_program.aln ~ '^[0-9]{2}[.][A-Z0-9]{1,6}$'
  group by totals_by_program.aln
$$;
comment on function publication.list_programs is
  'Returns the programs of public awards, from totals of public rows: their numbers, most frequent names, all frequent names, and how many awards they have in all years.';
