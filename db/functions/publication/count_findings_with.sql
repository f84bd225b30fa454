-- Table scans are off, because they would read the words of every finding.
create or replace function publication.count_findings_with(words text)
returns integer
language sql stable strict security definer set search_path = '' set enable_seqscan = off
as $$
  select count(*)::integer
  from (
    select from disclosed.finding_summaries as findings
    where findings.text_words @@ publication.words_query(words) or findings.plan_words @@ publication.words_query(words)
    limit 1001
  ) as found
$$;
comment on function publication.count_findings_with is
  'Returns how many public findings have all these words in a text or in a corrective action plan (1001: more than 1,000).';
grant execute on function publication.count_findings_with to site;
