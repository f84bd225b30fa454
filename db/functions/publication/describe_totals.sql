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
      'totals_by_agency', (select coalesce(jsonb_agg(to_jsonb(totals_by_agency)), '[]') from disclosed.totals_by_agency)
    )
  );
end
$$;
comment on function publication.describe_totals is
  'Returns the totals of the live data set by state and by agency, and the date of its newest submission.';
grant execute on function publication.describe_totals to site;
