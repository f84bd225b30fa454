-- Reads at most 1,001 texts and 1,001 plans, because more are not counted.
create or replace function publication.count_findings_with(words text)
returns integer
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  query constant tsquery := publication.words_query(words);
  found integer;
  most integer;
begin
  if query is null then
    return 0;
  end if;
  with texts as materialized (
    (
      select 'text' as kind, texts.report_id, texts.finding_ref_number as reference_number
      from disclosed.findings_text as texts
      where extensions.text_words(texts.finding_text) @@ query
      limit 1001
    )
    union all
    (
      select 'plan', plans.report_id, plans.finding_ref_number
      from disclosed.corrective_action_plans as plans
      where extensions.text_words(plans.planned_action) @@ query
      limit 1001
    )
  )
  select
    (
      select count(*)
      from (select distinct texts.report_id, texts.reference_number from texts) as named
      join disclosed.finding_summaries as findings
        on findings.report_id = named.report_id and findings.reference_number = named.reference_number
    ),
    (select max(counted.rows) from (select count(*) as rows from texts group by texts.kind) as counted)
  into found, most;
  return case when most > 1000 then 1001 else least(found, 1001) end;
end
$$;
comment on function publication.count_findings_with is
  'Returns how many public findings have all these words in a text or in a corrective action plan (1001: about 1,000 or more).';
grant execute on function publication.count_findings_with to site;
