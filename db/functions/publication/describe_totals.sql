-- The report service calls this to show the totals on its pages without a request to the API. It reads only public tables.
create or replace function publication.describe_totals()
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'newest_submission', (select max(general.fac_accepted_date) from disclosed.general),
      'totals_by_state', (select coalesce(jsonb_agg(to_jsonb(totals_by_state)), '[]') from disclosed.totals_by_state),
      'totals_by_agency', (select coalesce(jsonb_agg(to_jsonb(totals_by_agency)), '[]') from disclosed.totals_by_agency),
      'example', (
        select to_jsonb(example)
        from (
          select
            general.report_id, general.auditee_name, general.auditee_city, general.auditee_state, general.audit_year,
            general.auditor_firm_name, awards.federal_agency_prefix, awards.federal_award_extension
          from disclosed.general
          cross join lateral (
            select federal_awards.federal_agency_prefix, federal_awards.federal_award_extension
            from disclosed.federal_awards
            where federal_awards.report_id = general.report_id
              and federal_awards.federal_agency_prefix ~ '^[0-9]{2}$' and federal_awards.federal_award_extension ~ '^[0-9]{3}$'
            order by federal_awards.amount_expended desc nulls last, federal_awards.award_reference
            limit 1
          ) as awards
          where general.auditee_name ~ '^[[:alpha:] ]{6,40}$' and general.auditee_state ~ '^[A-Z]{2}$'
            and general.audit_year ~ '^20[0-9]{2}$'
          order by general.fac_accepted_date desc nulls last, general.report_id desc
          limit 1
        ) as example
      )
    )
  );
end
$$;
comment on function publication.describe_totals is
  'Returns the totals of the live data set by state and by agency, the date of its newest submission, and one of the newest submissions, which the pages use in examples of searches.';
grant execute on function publication.describe_totals to site;
