-- Compares the header of a source file with the columns of its table. Returns what is wrong, and the columns in the file's
-- order. Parameters: the staging table, and the names in the header.
with expected as (
  select attname::text as name, format_type(atttypid, atttypmod) as type,
    attname in (select name from staging.derived_columns)
      -- Other tables derive these columns from general.
      and not (
        $1::regclass = 'staging.general'::regclass
        and attname in ('auditee_uei', 'audit_year', 'fac_accepted_date')
      ) as is_derived
  from pg_catalog.pg_attribute
  where attrelid = $1::regclass and attnum > 0 and attname not in ('source_file', 'source_row')
),
given as (select name, place from unnest($2::text[]) with ordinality as header (name, place))
select
  concat_ws('; ',
    (select 'unknown columns ' || string_agg(to_json(left(name, 60))::text, ', ' order by place)
     from given where name not in (select name from expected)),
    (select 'missing columns ' || string_agg(name, ', ')
     from expected where not is_derived and name not in (select name from given)),
    (select 'repeated columns ' || string_agg(name, ', ')
     from (select name from given group by name having count(*) > 1) as repeated)) as faults,
  (select json_agg(json_build_object('name', name, 'type', type) order by place)
   from given join expected using (name)) as columns
