create or replace function publication.list_related_programs(asked text)
returns jsonb
language sql stable strict security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(related) order by related.aln), '[]')
  from (
    select numbers.aln, numbers.findings
    from publication.list_program_numbers(asked) as numbers
    where numbers.aln <> asked
    limit 20
  ) as related
$$;
comment on function publication.list_related_programs is
  'Returns the numbers under which awards of the same program are reported too, and how many findings each has: 84.425D and 84.425U for 84.425. Of more than 20, those with the most awards.';
grant execute on function publication.list_related_programs to site;
