-- The rows in the format of the source files: the columns of the staging tables, in their order. A column or table that the sample
-- does not know gets values of its type, so that a new one needs no change here.

-- The query for one file. Each row has the key of its submission.
create function sample.describe_file(file text) returns text stable
return (
  with columns as (
    select attrelid::regclass as relation, attname as name, attnum as place, typcategory as category,
      format_type(atttypid, atttypmod) as type, attnotnull
    from pg_attribute
    join pg_type on pg_type.oid = atttypid
    where attnum > 0
  )
  select format('select %s from sample.submissions join %s as rows using (id) order by id, rows.number',
    string_agg(coalesce(
      'rows.' || quote_ident(own.name),
      'submissions.' || quote_ident(shared.name),
      format(case staging.category
        when 'N' then 'sample.whole(%1$s, %2$L, 0, 1000)'
        when 'B' then '(sample.draw(%1$s, %2$L) < 0.5)'
        when 'D' then 'submitted_date'
        when 'S' then 'sample.choose(sample.list(%3$L), sample.draw(%1$s, %2$L))'
        else 'null'
      end || '::%4$s as %2$I', 'sample.child(id, rows.number)', staging.name, drawn.list, staging.type)),
      ', ' order by staging.place),
    -- Every other submission has a row in a table that the sample does not know.
    coalesce(to_regclass('sample.' || quote_ident(file))::text,
      '(select id, 1 as number from sample.submissions where sample.draw(id, ''has rows'') < 0.5)'))
  from columns as staging
  left join columns as own
    on own.relation = to_regclass('sample.' || quote_ident(file))
    and (own.name, own.category) = (staging.name, staging.category)
  left join columns as shared on shared.relation = 'sample.submissions'::regclass and shared.name = staging.name
  cross join lateral (
    select coalesce(max(name), 'words') as list from sample.lists where staging.name like lists.name
  ) as drawn
  where staging.relation = to_regclass('staging.' || quote_ident(file))
    -- Files lack the columns that say where a row comes from. Only those columns are not null.
    and not staging.attnotnull and staging.name <> 'row_number'
);
