create or replace function publication.compare_with_peers(asked_year text, asked_type text, expended bigint, asked_findings bigint)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_build_object(
    'entity_type', peers.entity_type,
    'expended_from', peers.expended_from,
    'expended_to', peers.expended_to,
    'submissions', sum(peers.submissions),
    'median', peers.median_findings,
    'fewer', coalesce(sum(peers.submissions) filter (where peers.findings < asked_findings), 0),
    'more', coalesce(sum(peers.submissions) filter (where peers.findings > asked_findings), 0)
  )
  from disclosed.totals_by_peer_groups as peers
  where peers.audit_year = asked_year
    and (peers.entity_type is null or peers.entity_type = asked_type)
    and (
      peers.expended_from is null
      or (peers.expended_from <= expended and (peers.expended_to > expended or peers.expended_to is null))
    )
  group by peers.entity_type, peers.expended_from, peers.expended_to, peers.median_findings
  order by peers.entity_type is null, peers.expended_from is null
  limit 1
$$;
comment on function publication.compare_with_peers is
  'Compares a number of findings with a year''s public reports of auditees of the same kind and size. If there are fewer than 20, it compares with the same kind, or else with the same size. Returns the median, and how many reports have fewer and more. Returns null if all three groups have fewer than 20 reports.';
