create or replace function publication.withdraw_data_sets()
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update publication.data_sets set state = 'dropped' where data_sets.state <> 'dropped';
  update disclosed.data_set set published_at = null;
  -- No change record leads from these data sets to the next one, so clients must load everything again.
  delete from publication.changes;
end
$$;
comment on function publication.withdraw_data_sets is
  'Withdraws the live data set and the previous one: requests get 503 until the next publication.';
grant execute on function publication.withdraw_data_sets to publisher;
