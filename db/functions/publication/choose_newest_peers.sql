-- For reports that publication.compare_with_peers() cannot compare, because even its wider groups have fewer than 20 reports in that year.
create or replace function publication.choose_newest_peers(asked_type text, expended bigint)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_build_object('audit_year', peers.audit_year, 'submissions', sum(peers.submissions), 'median', peers.median_findings)
  from disclosed.totals_by_peers as peers
  -- Reports may have no year, and null would be the newest.
  where peers.audit_year is not null
    and peers.entity_type = asked_type
    and peers.expended_from <= expended
    and (peers.expended_to > expended or peers.expended_to is null)
  group by peers.audit_year, peers.median_findings
  order by peers.audit_year desc
  limit 1
$$;
comment on function publication.choose_newest_peers is
  'Returns the newest year with 20 or more public reports of auditees of a kind and size, how many there are, and the median of their findings. Returns null if no year has 20.';
