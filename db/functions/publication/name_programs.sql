-- It reads only totals of public rows.
create or replace function publication.name_programs(alns text[])
returns jsonb
language sql stable strict security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(listed)), '[]')
  from (
    select programs.aln, programs.federal_program_name, programs.awards
    from publication.list_programs() as programs
    where programs.aln = any (alns)
    order by programs.awards desc, programs.aln
    limit 20
  ) as listed
$$;
comment on function publication.name_programs is
  'Returns up to 20 of these programs that have public awards, those with the most awards first: their numbers, most frequent names, and how many awards they have.';
grant execute on function publication.name_programs to site;
