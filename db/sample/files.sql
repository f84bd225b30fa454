-- The rows as the source files have them: the columns of staging.sql, in its order. A column or table that the sample does
-- not know is invented by its type, so that a new one needs no change here.

create function sample.invent(type oid, length int, key bigint, name text, accepted date, list text) returns text stable
return case
  when type in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then sample.whole(key, name, 0, 1000)::text
  when type in ('numeric'::regtype, 'float4'::regtype, 'float8'::regtype)
    then (sample.whole(key, name, 0, 100000) / 100.0)::numeric(12, 2)::text
  when type = 'bool'::regtype then (sample.draw(key, name) < 0.5)::text
  when type in ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) then accepted::text
  when type in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
    then left(sample.pick(list, key), coalesce(length, 1000))
end;

-- The query for one file. Each row has the key of its submission.
create function sample.describe_file(table_name text) returns text stable
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
      when name in ('report_id', 'auditee_uei', 'audit_year', 'fac_accepted_date') then format('submissions.%I', name)
      when known_type = type then format('rows.%I', name)
      when known_type is not null
        then format('case when pg_input_is_valid(rows.%1$I::text, %2$L) then rows.%1$I::text else %3$s end::%2$s as %1$I',
          name, type_name, invented)
      else format('%s::%s as %I', invented, type_name, name)
    end as expression
    from columns
    cross join lateral format('sample.invent(%s, %L, sample.child(id, rows.number), %L, submissions.fac_accepted_date, %L)',
      type, length, name, coalesce((select lists.name from sample.lists where lists.name = 'column ' || columns.name), 'words')) as invented
  )
  select format('select %s from sample.submissions join %s as rows using (id) order by id, rows.number',
    string_agg(expression, ', ' order by place),
    -- Every other submission has a row in a table that the sample does not know.
    coalesce(to_regclass('sample.' || quote_ident(table_name))::text,
      '(select id, 1 as number from sample.submissions where sample.draw(id, ''has rows'') < 0.5)'))
  from expressions
);
