-- Compares the header of a source file with the columns of its table. Returns what is wrong, and the columns in the file's
-- order. Parameters: the table, the names in the header, and the names in all headers of the table's files.
with expected as (
  select name, type,
    -- A column that was deployed before any file had it may be missing from all files of a table, but not from only some.
    name in (select column_name from data_set.awaited_columns where table_name = $1::text and column_name <> all ($3::text[]))
    or name in (select name from staging.derived_columns)
      -- Other tables derive these columns from general.
      and not (
        $1::text = 'general'
        and name in ('auditee_uei', 'audit_year', 'fac_accepted_date')
      ) as may_be_missing
  from data_set.list_columns(format('staging.%I', $1::text)::regclass)
  where name not in ('source_file', 'source_row')
),
given as (select name, place from unnest($2::text[]) with ordinality as header (name, place)),
-- If the header is missing, the first line is a row, whose values must not be shown.
judged as (select bool_or(name = 'report_id') and bool_and(name ~ '^\w{1,63}$') as is_header from given)
select
  concat_ws('; ',
    (select case when is_header then 'unknown columns ' || string_agg(name, ', ' order by place)
       else format('unknown columns at %s, which are not shown, because the first line may be a row', string_agg(place::text, ', ' order by place)) end
     from given cross join judged where name not in (select name from expected) group by is_header),
    (select 'missing columns ' || string_agg(name, ', ')
     from expected where not may_be_missing and name not in (select name from given)),
    (select 'repeated columns ' || string_agg(name, ', ')
     from (select name from given join expected using (name) group by name having count(*) > 1) as repeated)) as faults,
  (select json_agg(json_build_object('name', name, 'type', type) order by place)
   from given join expected using (name)) as columns
