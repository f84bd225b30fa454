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

-- What the public sees of such a chain: what it would be if it had only its public members. A report that is left alone
-- looks as if it had never been resubmitted.
create unlogged table staging.public_chains as
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

-- Most tables are published as they are in their files. A table that computes columns has a view staging.<table>_rows, with all
-- columns of the table, and the place of each row in the files.

create view staging.general_rows as
select
  source.ctid as place,
  source.report_id,
  source.auditee_uei,
  source.audit_year,
  source.auditee_certify_name,
  source.auditee_certify_title,
  source.auditee_contact_name,
  source.auditee_email,
  source.auditee_name,
  source.auditee_phone,
  source.auditee_contact_title,
  source.auditee_address_line_1,
  source.auditee_city,
  source.auditee_state,
  source.auditee_ein,
  source.auditee_zip,
  source.auditor_certify_name,
  source.auditor_certify_title,
  source.auditor_phone,
  source.auditor_state,
  source.auditor_city,
  source.auditor_contact_title,
  source.auditor_address_line_1,
  source.auditor_zip,
  source.auditor_country,
  source.auditor_contact_name,
  source.auditor_email,
  source.auditor_firm_name,
  source.auditor_foreign_address,
  source.auditor_ein,
  coalesce(source.cognizant_agency, '') as cognizant_agency,
  coalesce(source.oversight_agency, '') as oversight_agency,
  source.date_created,
  source.ready_for_certification_date,
  source.auditor_certified_date,
  source.auditee_certified_date,
  source.submitted_date,
  source.fac_accepted_date,
  source.fy_end_date,
  source.fy_start_date,
  source.audit_type,
  source.gaap_results,
  source.sp_framework_basis,
  source.is_sp_framework_required,
  source.sp_framework_opinions,
  source.is_going_concern_included,
  source.is_internal_control_deficiency_disclosed,
  source.is_internal_control_material_weakness_disclosed,
  source.is_material_noncompliance_disclosed,
  source.dollar_threshold,
  source.is_low_risk_auditee,
  source.agencies_with_prior_findings,
  source.entity_type,
  source.number_months,
  source.audit_period_covered,
  source.total_amount_expended,
  source.type_audit_code,
  reports.is_public,
  source.data_source,
  source.is_aicpa_audit_guide_included,
  source.is_additional_ueis,
  coalesce(case when public_chains.report_id is null then source.resubmission_version else public_chains.version end, 0)
    as resubmission_version,
  case when public_chains.report_id is null then source.resubmission_status else public_chains.status end as resubmission_status,
  case when source.report_id in (select additional_eins.report_id from staging.additional_eins) then 'Yes'
    else 'No' end as is_multiple_eins,
  case when source.report_id in (select secondary_auditors.report_id from staging.secondary_auditors) then 'Yes'
    else 'No' end as is_secondary_auditors
from staging.general as source
join staging.reports on reports.report_id = source.report_id
left join staging.public_chains on public_chains.report_id = source.report_id;

create view staging.resubmission_rows as
select
  source.ctid as place,
  source.report_id,
  coalesce(source.auditee_uei, reports.auditee_uei) as auditee_uei,
  coalesce(source.audit_year, reports.audit_year) as audit_year,
  coalesce(source.fac_accepted_date, reports.fac_accepted_date) as fac_accepted_date,
  case when public_chains.report_id is null then source.version else public_chains.version end as version,
  case when public_chains.report_id is null then source.status else public_chains.status end as status,
  -- A public row must not name a suppressed submission of the same auditee.
  case
    when public_chains.report_id is not null then public_chains.previous_report_id
    when not reports.is_public or exists (
      select from staging.reports as linked where linked.report_id = source.previous_report_id and linked.is_public
    ) then source.previous_report_id
  end as previous_report_id,
  case
    when public_chains.report_id is not null then public_chains.next_report_id
    when not reports.is_public or exists (
      select from staging.reports as linked where linked.report_id = source.next_report_id and linked.is_public
    ) then source.next_report_id
  end as next_report_id,
  case when public_chains.report_id is null then original.fac_accepted_date else public_chains.original_submission_date end
    as original_submission_date
from staging.resubmission as source
join staging.reports on reports.report_id = source.report_id
left join staging.public_chains on public_chains.report_id = source.report_id
left join staging.original_reports as original on original.report_id = source.report_id
where public_chains.version is distinct from 0;

-- Says where to add a column that is only in staging.sql.
do $$
declare
  missing record;
begin
  select source_tables.name as table_name, pg_attribute.attname
  into missing
  from staging.source_tables
  join pg_catalog.pg_attribute on pg_attribute.attrelid = format('staging.%I', source_tables.name)::regclass
    and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
    and pg_attribute.attname not in ('source_file', 'source_row')
  join pg_catalog.pg_class as rows on rows.oid = to_regclass(format('staging.%I', source_tables.name || '_rows'))
  where not exists (
    select from pg_catalog.pg_attribute as computed
    where computed.attrelid = rows.oid and computed.attname = pg_attribute.attname
  )
  order by source_tables.name, pg_attribute.attnum
  limit 1;
  if found then
    raise exception 'staging.%_rows is missing the column %. Add it to the view in build.sql.', missing.table_name, missing.attname;
  end if;
end
$$;

-- The columns of each table as expressions, in the order of staging.sql. A column that a child table's file may leave out comes
-- from the report's row in general. Expressions instead of joins keep the rows in the order of the files.
create view staging.published_columns as
select
  source_tables.name as table_name,
  pg_attribute.attnum as place,
  case
    when to_regclass(format('staging.%I', source_tables.name || '_rows')) is null
      and pg_attribute.attname in (select derived_columns.name from staging.derived_columns)
      then format(
        'coalesce(source.%1$I, (select reports.%1$I from staging.reports where reports.report_id = source.report_id)) as %1$I',
        pg_attribute.attname
      )
    when source_tables.name = 'findings' and pg_attribute.attname = 'award_reference' then
      'case when source.report_id in (select report_id from staging.renumbered_findings) then coalesce(('
      'select renumbered.award_reference from staging.renumbered_findings as renumbered'
      ' where renumbered.report_id = source.report_id and renumbered.number_in_file = source.award_reference'
      ' and renumbered.reference_number is not distinct from source.reference_number'
      '), source.award_reference) else source.award_reference end as award_reference'
    else format('source.%I', pg_attribute.attname)
  end as expression
from staging.source_tables
join pg_catalog.pg_attribute on pg_attribute.attrelid = format('staging.%I', source_tables.name)::regclass
  and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
  and pg_attribute.attname not in ('source_file', 'source_row');

-- The reports whose rows each side has.
create view staging.public_reports as
select reports.report_id, reports.is_superseded from staging.reports where reports.is_public;
create view staging.suppressed_reports as
select reports.report_id, reports.is_superseded from staging.reports where not reports.is_public;

create schema disclosed_next;
create schema suppressed_next;

-- Builds each table on both sides: its rows, its constraints, the index that finds a report's rows, and the policy that shows
-- suppressed rows only to api_tribal. The other indexes are in indexes.sql. Nobody but publisher may read these tables before
-- they are live (publication.set_data_set_rights).
--
-- Rows keep the order of the files. Sorting them would take about as long as writing them, so a large table is scanned without
-- other tables or workers, from its first page to its last (session.sql). "is true" keeps the planner from turning the
-- condition into a join. CREATE TABLE AS writes rows in the order in which it gets them; INSERT would fill earlier gaps
-- with later rows.
--
-- The public tables have no row-level security, because PostgreSQL would then use no index for operators that are not
-- leakproof (ilike, fts).
do $$
declare
  source record;
  side record;
  built text;
  index_name text;
begin
  for source in
    select
      source_tables.name,
      source_tables.name = 'general' as is_general,
      -- Only resubmission also lists superseded reports, which have no row in general.
      source_tables.name = 'resubmission' as has_superseded,
      to_regclass(format('staging.%I', source_tables.name || '_rows')) as computed_rows,
      (
        select string_agg(published_columns.expression, ', ' order by published_columns.place)
        from staging.published_columns where published_columns.table_name = source_tables.name
      ) as columns,
      (
        select string_agg(quote_ident(key_column), ', ')
        from staging.unique_keys
        cross join lateral unnest(unique_keys.columns) as key_column
        where unique_keys.table_name = source_tables.name
      ) as key_columns
    from staging.source_tables
    -- The other tables refer to general.
    order by source_tables.name <> 'general', format('staging.%I', source_tables.name)::regclass::oid
  loop
    for side in
      select * from (
        values
          ('disclosed_next', 'public_reports', 'add constraint general_is_public check (is_public)'),
          ('suppressed_next', 'suppressed_reports', 'add constraint general_is_suppressed check (not is_public)')
      ) as sides (schema_name, reports, constraint_of_general)
    loop
      built := format('%I.%I', side.schema_name, source.name);
      execute format(
        'create table %s as select %s from %s as source '
        'where exists (select from staging.%I as kept where kept.report_id = source.report_id%s) is true%s',
        built, source.columns, coalesce(source.computed_rows, format('staging.%I', source.name)::regclass),
        side.reports, case when not source.has_superseded then ' and not kept.is_superseded' end,
        case when source.computed_rows is not null then ' order by source.place' end
      );
      execute format(
        'alter table %s %s', built,
        concat_ws(
          ', ', 'alter column report_id set not null', 'alter column auditee_uei set not null',
          -- The constraints, not the loader, keep public and suppressed rows apart.
          case
            when source.is_general then side.constraint_of_general
            when not source.has_superseded then format(
              'add constraint %I foreign key (report_id) references %I.general (report_id)',
              source.name || '_report_id_is_in_general', side.schema_name
            )
          end
        )
      );
      -- The index of a key, which begins with report_id, takes the place of an index of report_id.
      index_name := source.name || case when source.key_columns is null then '_report_id' else '_key_is_unique' end;
      if source.key_columns is null then
        execute format('create index %I on %s (report_id)', index_name, built);
      else
        execute format('alter table %s add constraint %I unique nulls not distinct (%s)', built, index_name, source.key_columns);
      end if;
      execute format(
        'comment on index %I.%I is %L', side.schema_name, index_name,
        format('Finds a report''s rows, for %s?report_id=eq.… or in.(…) and for embedding', source.name)
      );
      if side.schema_name = 'suppressed_next' then
        execute format('alter table %s enable row level security', built);
        execute format('create policy tribal_access on %s for select to api_tribal using (true)', built);
      end if;
    end loop;
  end loop;
end
$$;

-- The public sees that a suppressed submission exists: its ID, and that it is not public. Stubs are ordered by report_id, because
-- the order of the files could reveal more about the submissions.
create table disclosed_next.general_stubs (like suppressed_next.general);
alter table disclosed_next.general_stubs alter column auditee_uei drop not null;
insert into disclosed_next.general_stubs (report_id, is_public)
select general.report_id, general.is_public from suppressed_next.general order by general.report_id;
alter table disclosed_next.general_stubs
  add constraint general_stubs_is_suppressed check (not is_public),
  add constraint general_stubs_report_id_is_unique unique (report_id);
-- Roles that see the full row do not see its stub.
alter table disclosed_next.general_stubs enable row level security;
create policy public_access on disclosed_next.general_stubs for select to api_public using (true);

-- The constraint also covers columns that are added to general later.
do $$
begin
  execute (
    select 'alter table disclosed_next.general_stubs add constraint general_stubs_tell_nothing '
      || 'check (num_nonnulls(' || string_agg(quote_ident(attname), ', ') || ') = 0)'
    from pg_catalog.pg_attribute
    where attrelid = 'disclosed_next.general_stubs'::regclass and attnum > 0
      and attname not in ('report_id', 'is_public')
  );
end
$$;

-- Identifies the data set, in one row. Until a refresh or a rollback sets published_at (record_changes.sql), requests get 503.
create table disclosed_next.data_set as
select extensions.uuid_v7() as id, now() as built_at, null::timestamptz as published_at;

drop schema staging cascade;
