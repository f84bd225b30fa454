-- It reads only totals of public rows.
create or replace function publication.list_related_programs(asked text)
returns jsonb
language sql stable strict security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(related) order by related.aln), '[]')
  from (
    select totals.aln, sum(totals.findings) as findings
    from disclosed.totals_by_program as totals
    where starts_with(totals.aln, substring(asked from '^([0-9]{2}[.][0-9]{3})[A-Z]{0,3}$'))
      and totals.aln ~ '^[0-9]{2}[.][0-9]{3}[A-Z]{0,3}$'
      and totals.aln <> asked
    group by totals.aln
    order by sum(totals.awards) desc, totals.aln
    limit 20
  ) as related
$$;
comment on function publication.list_related_programs is
  'Returns the numbers under which awards of the same program are reported too, and how many findings each has: 84.425D and 84.425U for 84.425. Of more than 20, those with the most awards.';
grant execute on function publication.list_related_programs to site;
