-- Reads only public rows. A public row never names a suppressed report, so a report that only a suppressed one replaces, and a
-- suppressed report that was replaced, are like reports that do not exist.
create or replace function publication.list_successors(ids text[])
returns jsonb
language sql stable strict security definer set search_path = ''
as $$
  with recursive later as (
    select resubmission.report_id, resubmission.next_report_id, 1 as steps
    from unnest(ids[:1000]) as asked (id)
    join disclosed.resubmission on resubmission.report_id = asked.id
    where not exists (select from disclosed.general where general.report_id = asked.id)
    union all
    select later.report_id, resubmission.next_report_id, later.steps + 1
    from later
    join disclosed.resubmission on resubmission.report_id = later.next_report_id
    -- Chains are shorter. Rows that lead back to themselves must end too.
    where later.steps < 20
  )
  select coalesce(jsonb_agg(to_jsonb(successors)), '[]')
  from (
    select distinct on (later.report_id) later.report_id, general.report_id as successor_id, general.fac_accepted_date
    from later
    join disclosed.general on general.report_id = later.next_report_id
    order by later.report_id, later.steps desc
  ) as successors
$$;
comment on function publication.list_successors is
  'Returns, for each of up to 1,000 report IDs of superseded reports, the newest public report that replaces it, and when that was accepted. Leaves out IDs that have none.';
grant execute on function publication.list_successors to site;
