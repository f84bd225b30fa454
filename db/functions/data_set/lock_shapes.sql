create or replace function data_set.lock_shapes()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  -- Publications take the lock that this one conflicts with.
  lock table publication.data_sets in share mode;
end
$$;
comment on function data_set.lock_shapes is
  'Keeps data sets from being published until the transaction ends, so that no generation misses a change.';
revoke all on function data_set.lock_shapes from public;
