-- Compares only the most frequent names, because comparing all of them would take five times as long. It reads only totals of public rows.
create or replace function publication.suggest_programs(written text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  spelled constant text := extensions.unaccent("left"(written, 200));
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(listed)), '[]')
    from (
      select programs.aln, programs.federal_program_name, programs.awards
      from publication.list_programs() as programs
      cross join lateral "left"(programs.federal_program_name, 200) as name
      cross join lateral extensions.word_similarity(spelled, name) as similarity
      where similarity > 0.5
      order by similarity desc, extensions.similarity(spelled, name) desc, programs.awards desc, programs.aln
      limit 5
    ) as listed
  );
end
$$;
comment on function publication.suggest_programs is
  'Returns up to five programs of public awards whose most frequent names are spelled like the text, most similar first: their numbers, names and awards.';
grant execute on function publication.suggest_programs to site;
