-- A refresh groups reports by them, so a change takes effect with the next refresh.
create or replace function publication.list_sizes()
returns table (expended_from bigint, expended_to bigint)
language sql immutable security invoker set search_path = '' rows 7
as $$
  values
    (0, 1000000), (1000000, 3000000), (3000000, 10000000), (10000000, 30000000), (30000000, 100000000),
    (100000000, 1000000000), (1000000000, null)
$$;
comment on function publication.list_sizes is
  'Returns the ranges of federal awards expended, in dollars, within which auditees are of the same size. expended_to is not in the range, and null in the largest.';
grant execute on function publication.list_sizes to publisher;
