-- The pages' search. It reads only the public tables, so a suppressed submission is like one that does not exist: it is neither
-- found nor counted, and takes no time.
create or replace function publication.search_reports(readings jsonb, skipped integer default 0)
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  criteria jsonb;
  matches text[];
  fingerprint text;
  fingerprints text[] := '{}';
  found_rows jsonb;
  totals jsonb := '[]';
  chosen integer;
begin
  for criteria in select reading from jsonb_array_elements(readings) as reading limit 20 loop
    matches := '{}';
    if chosen is null or not criteria ? 'only_if_nothing' then
      execute format(
        'select array(select general.report_id from disclosed.general where %s limit 1001)',
        publication.write_search_conditions(criteria)
      ) into matches using criteria;
    end if;
    -- A reading with the same reports as an earlier one is no other meaning: "Department of Aging, in Ohio", "Ohio Department of Aging".
    select md5(string_agg(listed.report_id, ',' order by listed.report_id)) into fingerprint from unnest(matches) as listed (report_id);
    totals := totals || to_jsonb(case when fingerprint = any (fingerprints) then 0 else cardinality(matches) end);
    fingerprints := fingerprints || fingerprint;
    if chosen is null and cardinality(matches) > 0 then
      chosen := jsonb_array_length(totals) - 1;
      found_rows := publication.list_matches(criteria, matches, least(greatest(skipped, 0), 900));
    end if;
  end loop;
  return jsonb_build_object('totals', totals, 'chosen', chosen, 'rows', coalesce(found_rows, '[]'));
end
$$;
comment on function publication.search_reports is
  'Searches the public reports. Each reading is one meaning of a search, as criteria that must all match. Returns how many reports match each of the first 20 readings (1001: more than 1,000; 0 if an earlier reading has the same reports), the index of the first reading that has matches, and up to 100 of its reports.';
grant execute on function publication.search_reports to site;
