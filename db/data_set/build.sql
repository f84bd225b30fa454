-- Builds the next generation of the data set from the staging tables. Public and suppressed rows never share a table.
-- Superseded submissions appear only in resubmission. Everything that the API shows is computed here once, never at query
-- time.

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

-- Which report follows which, in both directions.
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

-- The next public report in the chain, whatever is between.
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

-- What the files say of the resubmission of public reports without links, by the day on which they were accepted. Some have a version, or a
-- row in resubmission.
create unlogged table staging.unlinked_reports as
select
  general.fac_accepted_date,
  coalesce(general.resubmission_version, 0) as version,
  general.resubmission_status as status,
  resubmission.report_id is not null as has_row,
  resubmission.version as row_version,
  resubmission.status as row_status,
  count(*) as reports
from staging.general
join staging.reports on reports.report_id = general.report_id and reports.is_public and not reports.is_superseded
left join staging.resubmission on resubmission.report_id = general.report_id
where not exists (select from staging.chain_links where chain_links.report_id = general.report_id)
  -- A later version would name an earlier report.
  and coalesce(greatest(general.resubmission_version, resubmission.version), 0) <= 1
group by 1, 2, 3, 4, 5, 6;

-- What the public sees of such a chain: what it would be if it had only its public members. A report that is left alone
-- looks like most reports without links that were accepted on the same day, or the nearest one.
create unlogged table staging.public_chains as
with recursive ancestors as (
  select public_steps.later_id as report_id, public_steps.earlier_id as ancestor_id from staging.public_steps
  union
  select ancestors.report_id, public_steps.earlier_id
  from ancestors
  join staging.public_steps on public_steps.later_id = ancestors.ancestor_id
), neighbors as (
  select
    mixed_reports.report_id,
    mixed_reports.fac_accepted_date,
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
), places as (
  select
    neighbors.*,
    (case
      when neighbors.next_report_id is not null then 'deprecated_via_resubmission'
      when neighbors.previous_report_id is not null then 'most_recent'
    end)::varchar(30) as status
  from neighbors
)
select
  places.*,
  case when places.status is null then coalesce(unlinked.version, 0) else places.earlier_reports + 1 end as version,
  coalesce(places.status, unlinked.status) as shown_status,
  places.status is not null or coalesce(unlinked.has_row, false) as has_row,
  case when places.status is null then unlinked.row_version else places.earlier_reports + 1 end as row_version,
  coalesce(places.status, unlinked.row_status) as row_status
from places
left join lateral (
  select unlinked_reports.*
  from staging.unlinked_reports
  where places.status is null
  order by
    abs(unlinked_reports.fac_accepted_date - places.fac_accepted_date), unlinked_reports.reports desc,
    unlinked_reports.version, unlinked_reports.status, unlinked_reports.row_version, unlinked_reports.row_status
  limit 1
) as unlinked on true;
analyze staging.public_chains;

update staging.reports
set is_superseded = public_chains.next_report_id is not null
from staging.public_chains
where public_chains.report_id = reports.report_id;

-- In the files of some older reports, findings number awards with five digits, and federal_awards numbers them with four. The
-- published findings have the numbers of federal_awards, so that every join finds the award. A number stays as it is if
-- several awards match it, or if another row of the finding has the award's number.
create unlogged table staging.renumbered_findings as
with unmatched as materialized (
  select findings.report_id, findings.reference_number, findings.award_reference
  from staging.findings
  where not exists (
    select from staging.federal_awards as awards
    where awards.report_id = findings.report_id and awards.award_reference = findings.award_reference
  )
), matched as (
  select
    unmatched.report_id,
    unmatched.reference_number,
    unmatched.award_reference as number_in_file,
    min(awards.award_reference) as award_reference
  from unmatched
  join staging.federal_awards as awards on awards.report_id = unmatched.report_id
    and ltrim(awards.award_reference, 'AWRD-0') = ltrim(unmatched.award_reference, 'AWRD-0')
  group by unmatched.report_id, unmatched.reference_number, unmatched.award_reference
  having count(*) = 1
)
select distinct on (matched.report_id, matched.reference_number, matched.award_reference) matched.*
from matched
where not exists (
  select from staging.findings
  where findings.report_id = matched.report_id and findings.award_reference = matched.award_reference
    and findings.reference_number is not distinct from matched.reference_number
)
order by matched.report_id, matched.reference_number, matched.award_reference, matched.number_in_file;
create index renumbered_findings_key on staging.renumbered_findings (report_id, number_in_file);
analyze staging.renumbered_findings;

-- A table that computes columns has a view staging.<table>_rows with these columns, the report ID, and the rows of its file
-- (source). If the view has the place of each row in the files, the rows are sorted by it.

create view staging.general_rows as
select
  source,
  source.ctid as place,
  source.report_id,
  coalesce(source.cognizant_agency, '') as cognizant_agency,
  coalesce(source.oversight_agency, '') as oversight_agency,
  reports.is_public,
  coalesce(case when public_chains.report_id is null then source.resubmission_version else public_chains.version end, 0)
    as resubmission_version,
  case when public_chains.report_id is null then source.resubmission_status else public_chains.shown_status end as resubmission_status,
  case when source.report_id in (select additional_eins.report_id from staging.additional_eins) then 'Yes'
    else 'No' end as is_multiple_eins,
  case when source.report_id in (select secondary_auditors.report_id from staging.secondary_auditors) then 'Yes'
    else 'No' end as is_secondary_auditors
from staging.general as source
join staging.reports on reports.report_id = source.report_id
left join staging.public_chains on public_chains.report_id = source.report_id;

create view staging.findings_rows as
select
  source,
  source.report_id,
  case when source.report_id in (select renumbered.report_id from staging.renumbered_findings as renumbered) then coalesce((
    select renumbered.award_reference from staging.renumbered_findings as renumbered
    where renumbered.report_id = source.report_id and renumbered.number_in_file = source.award_reference
      and renumbered.reference_number is not distinct from source.reference_number
  ), source.award_reference) else source.award_reference end as award_reference
from staging.findings as source;

create view staging.resubmission_rows as
select
  source,
  source.ctid as place,
  source.report_id,
  case when public_chains.report_id is null then source.version else public_chains.row_version end as version,
  case when public_chains.report_id is null then source.status else public_chains.row_status end as status,
  -- A public row must not name a suppressed submission of the same auditee. A chain without one has no row in public_chains.
  case when public_chains.report_id is null then source.previous_report_id else public_chains.previous_report_id end
    as previous_report_id,
  case when public_chains.report_id is null then source.next_report_id else public_chains.next_report_id end
    as next_report_id,
  case when public_chains.report_id is null then original.fac_accepted_date else public_chains.original_submission_date end
    as original_submission_date
from staging.resubmission as source
join staging.reports on reports.report_id = source.report_id
left join staging.public_chains on public_chains.report_id = source.report_id
left join staging.original_reports as original on original.report_id = source.report_id
where public_chains.has_row is distinct from false;

-- The columns of each live table as expressions, in order. A column that a child table's file may leave out comes from the
-- report's row in general. Expressions instead of joins keep the rows in the order of the files.
create view staging.published_columns as
select
  tables.name as table_name,
  columns.place,
  format(
    '(%s)::%s as %I',
    case
      when computed.attname is not null then format('rows.%I', columns.name)
      -- In the order of the file.
      when columns.name = 'row_number' then 'row_number() over ()'
      when tables.name <> 'general' and columns.name in ('auditee_uei', 'audit_year', 'fac_accepted_date') then format(
        'coalesce(%1$s, (select reports.%2$I from staging.reports where reports.report_id = rows.report_id))',
        files.value, columns.name
      )
      else files.value
    end,
    columns.type, columns.name
  ) as expression
from data_set.tables
cross join lateral data_set.list_columns(format('disclosed.%I', tables.name)::regclass) as columns
left join pg_catalog.pg_attribute as computed
  on computed.attrelid = to_regclass(format('staging.%I', tables.name || '_rows')) and computed.attname = columns.name
cross join lateral format(
  case when to_regclass(format('staging.%I', tables.name || '_rows')) is null then 'rows.%I' else '(rows.source).%I' end,
  columns.name
) as files (value)
where tables.is_source;

-- The reports whose rows each side has.
create view staging.public_reports as
select reports.report_id, reports.is_superseded from staging.reports where reports.is_public;
create view staging.suppressed_reports as
select reports.report_id, reports.is_superseded from staging.reports where not reports.is_public;

create schema disclosed_next;
create schema suppressed_next;

-- Builds each table on both sides: its rows, then its constraints. Nobody but publisher may read these tables before they are
-- live (data_set.open_live_schemas).
--
-- Rows keep the order of the files. Sorting them would take about as long as writing them, so a large table is scanned without
-- other tables or workers, from its first page to its last (session.sql). "is true" keeps the planner from turning the
-- condition into a join. CREATE TABLE AS writes rows in the order in which it gets them; INSERT would fill earlier gaps
-- with later rows.
create unlogged table staging.row_counts (table_name text, side text, rows bigint);
do $$
declare
  source record;
  side record;
  built bigint;
begin
  for source in
    select
      tables.name,
      -- Only resubmission also lists superseded reports, which have no row in general.
      tables.name = 'resubmission' as has_superseded,
      coalesce(computed.oid::regclass, format('staging.%I', tables.name)::regclass) as rows,
      exists (
        select from pg_catalog.pg_attribute where pg_attribute.attrelid = computed.oid and pg_attribute.attname = 'place'
      ) as has_place,
      (
        select string_agg(published_columns.expression, ', ' order by published_columns.place)
        from staging.published_columns where published_columns.table_name = tables.name
      ) as columns
    from data_set.tables
    left join pg_catalog.pg_class as computed on computed.oid = to_regclass(format('staging.%I', tables.name || '_rows'))
    where tables.is_source
    -- The other tables refer to general.
    order by tables.name <> 'general', tables.place
  loop
    for side in
      select * from (values ('disclosed_next', 'public_reports'), ('suppressed_next', 'suppressed_reports'))
        as sides (schema_name, reports)
    loop
      execute format(
        'create table %I.%I as select %s from %s as rows '
        'where exists (select from staging.%I as kept where kept.report_id = rows.report_id%s) is true%s',
        side.schema_name, source.name,
        -- Suppressed rows are numbered after the public ones, so that no gap shows them.
        case when side.schema_name = 'suppressed_next' then replace(
          source.columns, 'row_number() over ()', format('row_number() over () + (select count(*) from disclosed_next.%I)', source.name)
        ) else source.columns end,
        source.rows,
        side.reports, case when not source.has_superseded then ' and not kept.is_superseded' end,
        case when source.has_place then ' order by rows.place' end
      );
      get diagnostics built = row_count;
      insert into staging.row_counts values (source.name, replace(side.schema_name, '_next', ''), built);
      perform data_set.complete_table(side.schema_name, source.name);
    end loop;
  end loop;
end
$$;

-- array_to_tsvector removes duplicates in half the time of "distinct". The table takes 0.7 s for a million awards.
create table disclosed_next.search_terms as
select
  general.report_id,
  general.fac_accepted_date,
  tsvector_to_array(array_to_tsvector(array_remove(
    array[
      nullif(general.auditee_state, ''),
      general.audit_year,
      extensions.city_term(general.auditee_city),
      case when exists (select from disclosed_next.findings where findings.report_id = general.report_id) then 'findings' end
    ] || awards.terms,
    null
  ))) as terms
from disclosed_next.general
cross join lateral (
  select
    array_agg(federal_awards.federal_agency_prefix || '.')
    || array_agg(federal_awards.federal_agency_prefix || '.' || federal_awards.federal_award_extension) as terms
  from disclosed_next.federal_awards
  where federal_awards.report_id = general.report_id
) as awards;
select data_set.complete_table('disclosed_next', 'search_terms');

-- Stubs are ordered by report_id, because the order of the files could reveal more about the submissions.
create table disclosed_next.general_stubs as
select general.report_id, general.is_public from suppressed_next.general order by general.report_id;
select data_set.complete_table('disclosed_next', 'general_stubs');

create table disclosed_next.data_set as
select extensions.uuid_v7() as id, now() as built_at, null::timestamptz as published_at;

-- ANALYZE alone estimates a tenth of the reports that a large table has, so PostgreSQL expects ten times as many rows for a
-- list of reports. The share of reports with rows is measured in some thousand reports, chosen by a hash.
do $$
declare
  child record;
  reports float;
begin
  for child in
    select pg_class.oid::regclass as name
    from pg_catalog.pg_class
    join pg_catalog.pg_constraint on pg_constraint.conrelid = pg_class.oid and pg_constraint.contype = 'f'
    where pg_class.relnamespace = 'disclosed_next'::regnamespace
  loop
    execute format(
      'select avg(exists (select from %s as child where child.report_id = sample.report_id)::int) * (select count(*) from disclosed_next.general)'
      ' from (select general.report_id from disclosed_next.general order by hashtext(general.report_id) limit 4000) as sample',
      child.name
    ) into reports;
    execute format('alter table %s alter column report_id set (n_distinct = %s)', child.name, greatest(round(reports), 1));
  end loop;
end
$$;

-- Without these statistics, PostgreSQL assumes that the two parts of a program's number are independent, and expects a thirtieth of
-- the program's awards.
create statistics disclosed_next.federal_awards_program (dependencies)
on federal_agency_prefix, federal_award_extension from disclosed_next.federal_awards;
