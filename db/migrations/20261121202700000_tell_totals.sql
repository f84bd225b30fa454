-- Totals of the live data set for the app's pages: what the API serves of them, without a request.
-- Lock level: none.

-- Null where the live data set was made without them. Of the public side alone, as publication.describe_service().
create function publication.describe_totals()
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  if to_regclass('dissemination.totals_by_state') is null then
    return null;
  end if;
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
  'Totals of the live data set by state and by agency, and the day of its newest submission; null where it has none.';
grant execute on function publication.describe_totals to report_service;
