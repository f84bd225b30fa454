-- Names the live data set to the report service, which gives out bulk files of no other. And a plan needs to know the state of
-- data sets, but not how many rows are suppressed.
-- Lock level: a short exclusive lock on publication.data_sets, which requests do not read.

create function publication.live_data_set()
returns uuid
language sql stable security definer set search_path = ''
as $$
  select data_sets.id from publication.data_sets where data_sets.state = 'live'
$$;
comment on function publication.live_data_set is 'The ID of the live data set.';
revoke execute on function publication.live_data_set from public;
grant execute on function publication.live_data_set to report_service;

revoke select on publication.data_sets from deployment_planner;
grant select (state, definitions) on publication.data_sets to deployment_planner;
