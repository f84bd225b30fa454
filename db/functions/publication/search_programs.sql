-- It reads only totals of public rows. PostgreSQL keeps 32 compiled regular expressions. With more words, it compiles
-- each word again for each row: a search for 47 short words would take 30 s of CPU time instead of a tenth of a second. So a program's
-- names are compared once, not once a year, and with at most 20 words.
create or replace function publication.search_programs(written text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(listed)), '[]')
    from (
      select programs.aln, programs.federal_program_name, programs.awards
      from publication.list_programs() as programs
      -- A program's names have words that begin with each of these. Few names have the longest.
      where programs.names ~* all (array(
        select '\m' || word
        from regexp_split_to_table(extensions.split_name("left"(written, 200)), ' +') as word
        group by word
        order by length(word) desc
        limit 20
      ))
      order by programs.awards desc, programs.aln
      limit 5
    ) as listed
  );
end
$$;
comment on function publication.search_programs is
  'Returns the five programs with the most awards whose names in the awards have all these words (of more than 20 words, the 20 longest): their numbers, most frequent names and awards.';
grant execute on function publication.search_programs to site;
