create or replace function publication.live_data_set()
returns uuid
language sql stable security definer set search_path = ''
as $$
  select data_sets.id from publication.data_sets where data_sets.state = 'live'
$$;
comment on function publication.live_data_set is 'The ID of the live data set.';
grant execute on function publication.live_data_set to site;
