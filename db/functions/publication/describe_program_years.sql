-- It reads only totals of public rows.
create or replace function publication.describe_program_years(agency text, sort text, skipped integer, most integer)
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    with years as materialized (
      select distinct totals.audit_year
      from disclosed.totals_by_state as totals
      where totals.audit_year ~ '^(19|20)[0-9]{2}$'
      order by totals.audit_year desc
      limit 5
    ), programs as materialized (
      select
        totals.aln,
        totals.federal_program_name,
        sum(totals.findings) as findings,
        coalesce(sum(totals.findings) filter (where totals.audit_year = sort), 0) as findings_of_year
      from disclosed.totals_by_program as totals
      where totals.audit_year in (select years.audit_year from years)
        and totals.findings > 0 and totals.aln is not null
        and (agency is null or starts_with(totals.aln, agency || '.'))
      group by totals.aln, totals.federal_program_name
    ), shown as (
      select programs.*
      from programs
      order by programs.findings_of_year desc, programs.findings desc, programs.aln
      limit most offset skipped
    )
    select jsonb_build_object(
      'years', (select coalesce(jsonb_agg(years.audit_year order by years.audit_year desc), '[]') from years),
      'count', (select count(*) from programs),
      'programs', (
        select coalesce(jsonb_agg(
          jsonb_build_object(
            'aln', shown.aln,
            'federal_program_name', shown.federal_program_name,
            'findings', shown.findings,
            'by_year', (
              select jsonb_object_agg(totals.audit_year, totals.findings)
              from disclosed.totals_by_program as totals
              where totals.aln = shown.aln and totals.audit_year in (select years.audit_year from years)
            )
          )
          order by shown.findings_of_year desc, shown.findings desc, shown.aln
        ), '[]')
        from shown
      )
    )
  );
end
$$;
comment on function publication.describe_program_years is
  'Returns the five newest audit years, how many programs (of an agency; null: of all agencies) have findings in them, and one page of these programs with the findings of each year. Leaves out awards that state no program number. The page is sorted by the year that sort names, the most findings first, or by the findings of all five years.';
grant execute on function publication.describe_program_years to site;
