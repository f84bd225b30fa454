-- It reads only totals of public rows. In every collation, letters are at most "ZZZ", so the table's key finds the numbers.
create or replace function publication.list_program_numbers(asked text)
returns table (aln text, findings bigint)
language sql stable strict security definer set search_path = ''
as $$
  select totals.aln, sum(totals.findings)::bigint
  from disclosed.totals_by_program as totals
  cross join substring(asked from '^([0-9]{2}[.][0-9]{3})[A-Z]{0,3}$') as without_letters (number)
  where totals.aln between without_letters.number and without_letters.number || 'ZZZ'
    and starts_with(totals.aln, without_letters.number)
    and totals.aln ~ '^[0-9]{2}[.][0-9]{3}[A-Z]{0,3}$'
  group by totals.aln
  order by sum(totals.awards) desc, totals.aln
  limit 200
$$;
comment on function publication.list_program_numbers is
  'Returns the number of a program without and with letter codes, as far as public awards have them, and how many findings each has: 84.425, 84.425D and 84.425U for 84.425. Of more than 200, those with the most awards.';
