create or replace function publication.compare_with_peers(asked_year text, asked_type text, expended bigint, asked_findings bigint)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_build_object(
    'expended_from', peers.expended_from,
    'expended_to', peers.expended_to,
    'submissions', max(peers.submissions_so_far),
    'median', min(peers.findings) filter (where 2 * peers.submissions_so_far >= peers.submissions_of_group),
    'fewer', coalesce(sum(peers.submissions) filter (where peers.findings < asked_findings), 0),
    'more', coalesce(sum(peers.submissions) filter (where peers.findings > asked_findings), 0)
  )
  from (
    select
      totals_by_peers.*,
      sum(totals_by_peers.submissions) over (order by totals_by_peers.findings) as submissions_so_far,
      sum(totals_by_peers.submissions) over () as submissions_of_group
    from disclosed.totals_by_peers
    where totals_by_peers.audit_year = asked_year and totals_by_peers.entity_type = asked_type
      and totals_by_peers.expended_from <= expended
      and (totals_by_peers.expended_to > expended or totals_by_peers.expended_to is null)
  ) as peers
  group by peers.expended_from, peers.expended_to
$$;
comment on function publication.compare_with_peers is
  'Compares a number of findings with the public reports of auditees of the same kind and size in a year: the median, and how many reports have fewer and more. Returns null if the group has fewer than 20 reports.';
