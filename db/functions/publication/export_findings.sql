-- The findings of a search, for a spreadsheet. It reads only the public tables. See search_findings() for the settings.
create or replace function publication.export_findings(criteria jsonb)
returns json
language plpgsql stable security definer
set search_path = '' set work_mem = '32MB' set max_parallel_workers_per_gather = 0 set synchronize_seqscans = off set jit = off
as $$
declare
  found json;
begin
  execute format(
    $query$
      with candidates as materialized (
        select findings.* from disclosed.finding_summaries as findings where %s limit $2
      ), matches as materialized (
        select findings.* from candidates as findings where %s
      )
      select coalesce(json_agg(listed), '[]')
      from (
        select general.auditee_name, matches.*
        from matches
        join disclosed.general on general.report_id = matches.report_id
      ) as listed
    $query$, publication.write_finding_conditions(criteria), publication.write_phrase_conditions(criteria)
  )
  into found
  using criteria, case when publication.list_phrases(criteria ->> 'words') is null then 5000 else 3000 end;
  return found;
end
$$;
comment on function publication.export_findings is
  'Returns up to 5,000 public findings that match all criteria, and their auditees'' names.';
grant execute on function publication.export_findings to site;
