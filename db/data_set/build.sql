-- Makes the next generation of the data set out of the staging tables: splits, derives, indexes, protects.
-- Public and suppressed rows never share a table. Superseded submissions are left out everywhere but in
-- resubmission. What the API shows is computed here, once, and never at query time.

-- The first report of each chain of resubmissions.
create unlogged table staging.original_reports as
with recursive chain as (
  select
    resubmission.report_id,
    coalesce(previous.report_id, resubmission.report_id) as original_report_id
  from staging.resubmission
  left join staging.reports as previous on previous.report_id = resubmission.previous_report_id
  where not exists (
    select from staging.resubmission as earlier where earlier.report_id = resubmission.previous_report_id
  )
  union
  select later.report_id, chain.original_report_id
  from chain
  join staging.resubmission as later on later.previous_report_id = chain.report_id
)
select distinct on (chain.report_id) chain.report_id, reports.fac_accepted_date
from chain
join staging.reports on reports.report_id = chain.original_report_id
order by chain.report_id, reports.fac_accepted_date;

-- Which report follows which, seen from both.
create unlogged table staging.chain_links as
with links as (
  select resubmission.previous_report_id as earlier_id, resubmission.report_id as later_id from staging.resubmission
  union
  select resubmission.report_id, resubmission.next_report_id from staging.resubmission
)
select links.earlier_id as report_id, links.later_id as other_id, true as is_later
from links where trim(links.earlier_id) <> '' and trim(links.later_id) <> '' and links.earlier_id <> links.later_id
union all
select links.later_id, links.earlier_id, false
from links where trim(links.earlier_id) <> '' and trim(links.later_id) <> '' and links.earlier_id <> links.later_id;
analyze staging.chain_links;

-- Public reports whose chain has a member that is not known to be public.
create unlogged table staging.mixed_reports as
with recursive reached as (
  select chain_links.report_id
  from staging.chain_links
  where not exists (
    select from staging.reports where reports.report_id = chain_links.report_id and reports.is_public
  )
  union
  select chain_links.other_id
  from reached
  join staging.chain_links on chain_links.report_id = reached.report_id
)
select reports.report_id, reports.fac_accepted_date
from reached
join staging.reports on reports.report_id = reached.report_id and reports.is_public;

-- The public report that comes next, whatever stands between.
create unlogged table staging.public_steps as
with recursive steps as (
  select mixed_reports.report_id as earlier_id, chain_links.other_id as later_id
  from staging.mixed_reports
  join staging.chain_links on chain_links.report_id = mixed_reports.report_id and chain_links.is_later
  union
  select steps.earlier_id, chain_links.other_id
  from steps
  join staging.reports on reports.report_id = steps.later_id and not reports.is_public
  join staging.chain_links on chain_links.report_id = steps.later_id and chain_links.is_later
)
select steps.earlier_id, steps.later_id
from steps
join staging.mixed_reports on mixed_reports.report_id = steps.later_id
where steps.earlier_id <> steps.later_id;

-- What the public is told of such a chain: what it would be if its public members were all. One that is left alone looks
-- as if it had never been submitted again.
create unlogged table staging.told as
with recursive ancestors as (
  select public_steps.later_id as report_id, public_steps.earlier_id as ancestor_id from staging.public_steps
  union
  select ancestors.report_id, public_steps.earlier_id
  from ancestors
  join staging.public_steps on public_steps.later_id = ancestors.ancestor_id
), places as (
  select
    mixed_reports.report_id,
    count(earlier.report_id) as earlier_reports,
    least(mixed_reports.fac_accepted_date, min(earlier.fac_accepted_date)) as original_submission_date,
    (
      select max(public_steps.earlier_id) from staging.public_steps where public_steps.later_id = mixed_reports.report_id
    ) as previous_report_id,
    (
      select max(public_steps.later_id) from staging.public_steps where public_steps.earlier_id = mixed_reports.report_id
    ) as next_report_id
  from staging.mixed_reports
  left join ancestors on ancestors.report_id = mixed_reports.report_id
    and ancestors.ancestor_id <> mixed_reports.report_id
  left join staging.mixed_reports as earlier on earlier.report_id = ancestors.ancestor_id
  group by mixed_reports.report_id, mixed_reports.fac_accepted_date
)
select
  places.*,
  case when num_nonnulls(places.previous_report_id, places.next_report_id) = 0 then 0
    else places.earlier_reports + 1 end as version,
  (case
    when places.next_report_id is not null then 'deprecated_via_resubmission'
    when places.previous_report_id is not null then 'most_recent'
  end)::varchar(30) as status
from places;
analyze staging.told;

update staging.reports
set is_superseded = told.next_report_id is not null
from staging.told
where told.report_id = reports.report_id;

create schema disclosed_next;
create schema suppressed_next;

-- Rows keep the order of the files. Sorting them takes about as long as writing them, so a large table is scanned alone
-- and without workers, from its first page to its last (session.sql).
do $$
declare
  table_name text;
  is_joined boolean;
  side record;
  columns text;
begin
  for table_name in select name from staging.source_tables loop
    -- These have a row a report at most, and more of it to look up.
    is_joined := table_name in ('general', 'resubmission');
    select string_agg(
      case
        when table_name = 'general' and attname = 'is_multiple_eins' then
          'case when source.report_id in (select additional_eins.report_id from staging.additional_eins) '
          'then ''Yes'' else ''No'' end as is_multiple_eins'
        when table_name = 'general' and attname = 'is_secondary_auditors' then
          'case when source.report_id in (select secondary_auditors.report_id from staging.secondary_auditors) '
          'then ''Yes'' else ''No'' end as is_secondary_auditors'
        when table_name = 'general' and attname in ('cognizant_agency', 'oversight_agency') then
          format('coalesce(source.%1$I, '''') as %1$I', attname)
        when table_name = 'general' and attname = 'is_public' then 'reports.is_public'
        when table_name = 'general' and attname in ('resubmission_version', 'resubmission_status') then
          format(
            case when attname = 'resubmission_version' then 'coalesce(%1$s, 0) as %2$I' else '%1$s as %2$I' end,
            format(
              'case when told.report_id is null then source.%I else told.%I end',
              attname, replace(attname, 'resubmission_', '')
            ), attname
          )
        when table_name = 'resubmission' and attname in ('version', 'status') then
          format('case when told.report_id is null then source.%1$I else told.%1$I end as %1$I', attname)
        -- A public row does not name a suppressed submission as one of its own auditee.
        when table_name = 'resubmission' and attname in ('previous_report_id', 'next_report_id') then
          format(
            'case when told.report_id is not null then told.%1$I '
            'when not reports.is_public or exists (select from staging.reports as linked '
            'where linked.report_id = source.%1$I and linked.is_public) then source.%1$I end as %1$I', attname
          )
        when table_name = 'resubmission' and attname = 'original_submission_date' then
          'case when told.report_id is null then original.fac_accepted_date else told.original_submission_date end '
          'as original_submission_date'
        -- Every row repeats these of its submission; where the file lacks them, general has them.
        when table_name <> 'general' and attname in ('auditee_uei', 'audit_year', 'fac_accepted_date') then
          format(
            case when is_joined then 'coalesce(source.%1$I, reports.%1$I) as %1$I' else
              'coalesce(source.%1$I, (select reports.%1$I from staging.reports '
              'where reports.report_id = source.report_id)) as %1$I'
            end, attname
          )
        else format('source.%I', attname)
      end,
      ', ' order by attnum
    )
    into strict columns
    from pg_catalog.pg_attribute
    where attrelid = format('staging.%I', table_name)::regclass and attnum > 0 and not attisdropped
      and attname not in ('source_file', 'source_line');

    for side in select * from (values ('disclosed_next', true), ('suppressed_next', false)) as v (schema_name, is_public)
    loop
      -- CREATE TABLE AS writes rows in the order it gets them; INSERT would fill earlier gaps with later rows.
      execute format(
        case when is_joined then
          'create table %1$I.%2$I as select %3$s from staging.%2$I as source '
          'join staging.reports on reports.report_id = source.report_id '
          'left join staging.told on told.report_id = source.report_id %4$s'
          'where reports.is_public = %5$L and %6$s order by source.ctid'
        else
          -- As “is true” it is asked of each row, by a hash table or an index. Without, it would be a join.
          'create table %1$I.%2$I as select %3$s from staging.%2$I as source '
          'where exists (select from staging.reports where reports.report_id = source.report_id '
          'and reports.is_public = %5$L and not reports.is_superseded) is true'
        end,
        side.schema_name, table_name, columns,
        case when table_name = 'resubmission' then
          'left join staging.original_reports as original on original.report_id = source.report_id '
        end,
        side.is_public,
        case when table_name = 'resubmission' then 'told.version is distinct from 0' else 'not reports.is_superseded' end
      );
      execute format(
        'alter table %I.%I alter column report_id set not null, alter column auditee_uei set not null',
        side.schema_name, table_name
      );
    end loop;
  end loop;
end
$$;

-- A suppressed submission is visible as a fact: its ID, and that it is not public.
create table disclosed_next.general_stubs (like suppressed_next.general);
alter table disclosed_next.general_stubs alter column auditee_uei drop not null;
insert into disclosed_next.general_stubs (report_id, is_public)
select general.report_id, general.is_public from suppressed_next.general order by general.ctid;

-- Which data set this is: one row.
create table disclosed_next.data_set as
select extensions.uuid_v7() as id, now() as built_at, null::timestamptz as published_at;

-- The database, not the loader, says that the two sides do not mix.
alter table disclosed_next.general
  add constraint general_is_public check (is_public),
  add constraint general_report_id_is_unique unique (report_id);
alter table suppressed_next.general
  add constraint general_is_suppressed check (not is_public),
  add constraint general_report_id_is_unique unique (report_id);
alter table disclosed_next.general_stubs
  add constraint general_stubs_is_suppressed check (not is_public),
  add constraint general_stubs_report_id_is_unique unique (report_id);

do $$
declare
  schema_name text;
  child text;
begin
  execute (
    select 'alter table disclosed_next.general_stubs add constraint general_stubs_tell_nothing '
      || 'check (num_nonnulls(' || string_agg(quote_ident(attname), ', ') || ') = 0)'
    from pg_catalog.pg_attribute
    where attrelid = 'disclosed_next.general_stubs'::regclass and attnum > 0
      and attname not in ('report_id', 'is_public')
  );

  foreach schema_name in array array['disclosed_next', 'suppressed_next'] loop
    for child in select name from staging.source_tables where name <> 'general' loop
      -- 1.0 s a million rows.
      execute format('create index %I on %I.%I (report_id)', child || '_report_id', schema_name, child);
      execute format(
        'comment on index %I.%I is %L', schema_name, child || '_report_id',
        format('Rows of a report: %s?report_id=eq.… or in.(…), and embedding', child)
      );
      -- resubmission also lists superseded reports, which general does not have.
      if child <> 'resubmission' then
        execute format(
          'alter table %1$I.%2$I add constraint %3$I foreign key (report_id) references %1$I.general (report_id)',
          schema_name, child, child || '_report_id_is_in_general'
        );
      end if;
    end loop;
  end loop;
end
$$;

-- Row-level security guards the suppressed side, by role; for other roles the planner drops the branch.
-- The disclosed side has none: it would forbid index use to every operator that is not leakproof (ilike, fts).
do $$
declare
  table_name text;
begin
  for table_name in select tablename from pg_catalog.pg_tables where schemaname = 'suppressed_next' loop
    execute format('alter table suppressed_next.%I enable row level security', table_name);
    execute format(
      'create policy tribal_access on suppressed_next.%I for select to api_tribal using (true)', table_name
    );
  end loop;
end
$$;

-- Who sees the full row does not see its stub.
alter table disclosed_next.general_stubs enable row level security;
create policy public_access on disclosed_next.general_stubs for select to api_public using (true);

grant usage on schema disclosed_next, suppressed_next to api_public, api_tribal;
grant select on all tables in schema disclosed_next, suppressed_next to api_public, api_tribal;

drop schema staging cascade;
