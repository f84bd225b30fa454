-- All rows that a report has in a table, for CSV files. As json, because jsonb takes several times as long for thousands of awards.
create or replace function publication.list_report_rows(asked_report_id text, asked_table text)
returns json
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  table_name text;
  columns text;
  listed json;
begin
  if not exists (select from disclosed.general where general.report_id = asked_report_id) then
    return null;
  end if;
  select pg_class.relname into table_name
  from pg_catalog.pg_class
  where pg_class.relnamespace = 'disclosed'::regnamespace and pg_class.relname = asked_table
    and pg_class.relname in (
      'finding_summaries', 'findings_text', 'corrective_action_plans', 'federal_awards', 'notes_to_sefa', 'passthrough',
      'secondary_auditors', 'additional_ueis', 'additional_eins', 'resubmission'
    );
  if table_name is null then
    return null;
  end if;
  -- Leaves out the words of whole texts, which only searches need.
  select string_agg(format('source.%I', pg_attribute.attname), ', ' order by pg_attribute.attnum) into columns
  from pg_catalog.pg_attribute
  where pg_attribute.attrelid = format('disclosed.%I', table_name)::regclass
    and pg_attribute.attnum > 0 and not pg_attribute.attisdropped and pg_attribute.atttypid <> 'tsvector'::regtype;
  execute format(
    'select json_agg(source) from (select %s from disclosed.%I as source where source.report_id = $1 limit 20000) as source',
    columns,
    table_name
  ) into listed using asked_report_id;
  return coalesce(listed, '[]');
end
$$;
comment on function publication.list_report_rows is
  'Returns the rows of a public report in a table, up to 20,000. Returns null if the report is suppressed, superseded or unknown, or if it has no such table.';
grant execute on function publication.list_report_rows to site;
