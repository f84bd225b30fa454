-- The rows as the source files have them: the columns of staging.sql, in its order. A column or table that the sample does
-- not know is invented by its type, so that a new one needs no change here.

create function sample.invent(type oid, length int, key bigint, name text, accepted date) returns text
language sql immutable parallel safe
return case
  when type in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then sample.whole(key, name, 0, 1000)::text
  when type in ('numeric'::regtype, 'float4'::regtype, 'float8'::regtype)
    then (sample.whole(key, name, 0, 100000) / 100.0)::numeric(12, 2)::text
  when type = 'bool'::regtype then (sample.draw(key, name) < 0.5)::text
  when type in ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) then accepted::text
  when type in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
    then left(sample.choose(sample.list('words'), sample.draw(key, name)), length)
end;

-- The query for one file.
create function sample.describe_file(table_name text) returns text
language sql stable
return (
  with columns as (
    select staging.attname as name, staging.attnum as place, staging.atttypid as type,
      format_type(staging.atttypid, staging.atttypmod) as type_name,
      nullif(staging.atttypmod, -1) - 4 as length, known.atttypid as known_type
    from pg_attribute as staging
    left join pg_attribute as known
      on known.attrelid = to_regclass('sample.' || quote_ident(table_name)) and known.attname = staging.attname
    where staging.attrelid = to_regclass('staging.' || quote_ident(table_name)) and staging.attnum > 0
      -- Files lack the columns that say where a row comes from, which are not null.
      and not staging.attnotnull
  ),
  expressions as (
    select place, case
      when known_type = type or name in ('report_id', 'auditee_uei', 'audit_year', 'fac_accepted_date')
        then format('%I::%s', name, type_name)
      when known_type is not null
        then format('case when pg_input_is_valid(%1$I::text, %3$L) then %1$I::text else %2$s end::%3$s as %1$I', name,
          format('sample.invent(%s, %L, row_key, %L, fac_accepted_date)', type, length, name), type_name)
      else format('sample.invent(%s, %L, row_key, %L, fac_accepted_date)::%s as %I', type, length, name, type_name, name)
    end as expression
    from columns
  )
  select format('select %s from %s cross join lateral (select sample.child(id, number) as row_key) as keyed
      order by id, number', string_agg(expression, ', ' order by place),
    case when to_regclass('sample.' || quote_ident(table_name)) is null
      -- Every other submission has a row in a table that the sample does not know.
      then '(select *, 1 as number from sample.submissions where sample.draw(id, ''has rows'') < 0.5) as invented'
      else format('sample.%I', table_name) end)
  from expressions
);
