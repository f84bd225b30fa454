-- It reads only public rows.
create or replace function publication.describe_programs(asked_year text, sort text, skipped integer, most integer)
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    with programs as (
      select
        totals_by_program.aln,
        totals_by_program.federal_program_name,
        sum(totals_by_program.awards) as awards,
        sum(totals_by_program.amount_expended) as amount_expended,
        sum(totals_by_program.findings) as findings,
        sum(totals_by_program.material_weaknesses) as material_weaknesses
      from disclosed.totals_by_program
      where asked_year is null or totals_by_program.audit_year = asked_year
      group by totals_by_program.aln, totals_by_program.federal_program_name
    ), shown as (
      select programs.*
      from programs
      order by
        case sort
          when 'awards' then programs.awards
          when 'amount_expended' then programs.amount_expended
          when 'findings' then programs.findings
          when 'material_weaknesses' then programs.material_weaknesses
        end desc,
        programs.aln
      limit most offset skipped
    )
    select jsonb_build_object(
      'count', (select count(*) from programs),
      'programs', coalesce(jsonb_agg(to_jsonb(shown)), '[]')
    )
    from shown
  );
end
$$;
comment on function publication.describe_programs is
  'Returns how many programs have public awards in an audit year (null: in all years), and one page of them with their totals: sorted by the column that sort names, the largest value first, or by aln if sort names no total.';
grant execute on function publication.describe_programs to site;
