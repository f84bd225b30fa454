-- Views of the served API: its schemas, and which columns of its views are unique together or never null, from the constraints and
-- indexes of the live data set. Pages and the OpenAPI document show them, and db:check compares relationships with the keys.
-- Lock level: none.

-- Other roles may create schemas with such names, so only schemas that api_owner owns are served.
create view publication.served_schemas as
select
  pg_namespace.oid,
  pg_namespace.nspname::text as name,
  substring(pg_namespace.nspname from 'api_(v.+)$') as version,
  row_number() over (
    order by
      pg_namespace.nspname like 'admin%',
      string_to_array(substring(pg_namespace.nspname from 'api_v(.+)$'), '_')::integer[]
  ) as place
from pg_catalog.pg_namespace
where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$' and pg_get_userbyid(pg_namespace.nspowner) = 'api_owner';

comment on view publication.served_schemas is
  'The schemas of the API. Clients that name no version get the first: the lowest-numbered version.';
comment on column publication.served_schemas.place is 'The schema''s position in PostgREST''s list of schemas.';
comment on column publication.served_schemas.version is 'The version part of the schema''s name, such as v1_1_0.';
grant select on publication.served_schemas to authenticator, publisher, site, deployment_planner;

create view publication.view_columns as
select view.oid as view_id, pg_attribute.attname::text as name, found[2]::oid as origin_id, found[3]::integer as origin_place
from publication.served_schemas
join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid and view.relkind = 'v'
join pg_catalog.pg_rewrite on pg_rewrite.ev_class = view.oid
-- The parsed view names the column that each of its columns comes from, whatever the view calls it.
cross join lateral regexp_matches(
  pg_rewrite.ev_action::text, ':resno (\d+) :resname \S+ :ressortgroupref \d+ :resorigtbl (\d+) :resorigcol (\d+)', 'g'
) as found
join pg_catalog.pg_attribute on pg_attribute.attrelid = view.oid and pg_attribute.attnum = found[1]::integer;

comment on view publication.view_columns is 'The columns of each API view, and the column of dissemination that each comes from.';
comment on column publication.view_columns.origin_id is 'The view of dissemination.';
comment on column publication.view_columns.origin_place is 'The column''s number in that view.';

-- A view of the API reads one view of dissemination, which reads the table of the same name in disclosed. Null counts as a value
-- in a key, so that each row has a place in an order. Without "materialized", PostgreSQL would parse every view for each table.
create view publication.view_keys as (
  with view_columns as materialized (
    select view_columns.* from publication.view_columns
  ), sources as (
    select
      view_columns.view_id,
      view_columns.name,
      source.oid as table_id,
      origin_column.attname as table_column
    from view_columns
    join pg_catalog.pg_class as origin
      on origin.oid = view_columns.origin_id and origin.relnamespace = to_regnamespace('dissemination')
    -- to_regclass() would need a privilege on the schema.
    join pg_catalog.pg_class as source
      on source.relname = origin.relname and source.relnamespace = to_regnamespace('disclosed')
    join pg_catalog.pg_attribute as origin_column
      on origin_column.attrelid = origin.oid and origin_column.attnum = view_columns.origin_place
  ), key_columns as (
    select pg_index.indrelid, pg_index.indexrelid, pg_index.indnkeyatts, pg_attribute.attname, part.place
    from pg_catalog.pg_index
    cross join lateral unnest(pg_index.indkey::smallint[]) with ordinality as part (attnum, place)
    join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_index.indrelid and pg_attribute.attnum = part.attnum
    where pg_index.indisunique and pg_index.indisvalid and pg_index.indpred is null and part.place <= pg_index.indnkeyatts
      and (pg_index.indnullsnotdistinct or pg_attribute.attnotnull)
  )
  select sources.view_id, array_agg(sources.name order by key_columns.place) as columns
  from sources
  join key_columns on key_columns.indrelid = sources.table_id and key_columns.attname = sources.table_column
  group by sources.view_id, key_columns.indexrelid, key_columns.indnkeyatts
  having count(*) = key_columns.indnkeyatts
);

comment on view publication.view_keys is
  'The columns of each API view that are unique together, null included, as the live data set guarantees by a constraint or a unique index.';
comment on column publication.view_keys.columns is 'In the order of the index.';
grant select on publication.view_keys to site;

-- A view of dissemination has the rows of all the tables that it reads. Stubs lack most columns of general.
create view publication.required_columns as
select view_columns.view_id, view_columns.name
from publication.view_columns
join pg_catalog.pg_attribute as origin
  on origin.attrelid = view_columns.origin_id and origin.attnum = view_columns.origin_place
where not exists (
  select from pg_catalog.pg_rewrite
  join pg_catalog.pg_depend on pg_depend.classid = 'pg_catalog.pg_rewrite'::regclass and pg_depend.objid = pg_rewrite.oid
    and pg_depend.refclassid = 'pg_catalog.pg_class'::regclass
  join pg_catalog.pg_class as source on source.oid = pg_depend.refobjid and source.relkind = 'r'
  left join pg_catalog.pg_attribute as source_column
    on source_column.attrelid = source.oid and source_column.attname = origin.attname
  where pg_rewrite.ev_class = view_columns.origin_id and source_column.attnotnull is not true
);

comment on view publication.required_columns is
  'The columns of each API view that are never null, as constraints on all the live tables that the view reads guarantee.';
grant select on publication.required_columns to site;
