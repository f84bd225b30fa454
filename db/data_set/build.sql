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

create schema disclosed_next;
create schema suppressed_next;

-- Each table below has one block: its columns, the public and the suppressed rows, constraints, the index that finds a
-- report's rows, and the policy that shows suppressed rows only to api_tribal. The other indexes are in indexes.sql. Rows
-- keep the order of the files. Sorting them would take about as long as writing them, so a large table is scanned without
-- other tables or workers, from its first page to its last (session.sql). CREATE TABLE AS writes rows in the order in which
-- it gets them; INSERT would fill earlier gaps with later rows.

-- The reports whose rows are published, and whether they are public or suppressed.
create view staging.public_reports as
select reports.report_id from staging.reports where reports.is_public and not reports.is_superseded;
create view staging.suppressed_reports as
select reports.report_id from staging.reports where not reports.is_public and not reports.is_superseded;

create view staging.general_rows as
select
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
left join staging.public_chains on public_chains.report_id = source.report_id
where not reports.is_superseded
order by source.ctid;

create table disclosed_next.general as
select * from staging.general_rows as source where source.is_public;
create table suppressed_next.general as
select * from staging.general_rows as source where not source.is_public;
-- The constraints, not the loader, keep public and suppressed rows apart.
alter table disclosed_next.general
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint general_is_public check (is_public),
  add constraint general_report_id_is_unique unique (report_id);
alter table suppressed_next.general
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint general_is_suppressed check (not is_public),
  add constraint general_report_id_is_unique unique (report_id);
alter table suppressed_next.general enable row level security;
create policy tribal_access on suppressed_next.general for select to api_tribal using (true);

-- The public sees that a suppressed submission exists: its ID, and that it is not public.
create table disclosed_next.general_stubs (like suppressed_next.general);
alter table disclosed_next.general_stubs alter column auditee_uei drop not null;
insert into disclosed_next.general_stubs (report_id, is_public)
select general.report_id, general.is_public from suppressed_next.general order by general.ctid;
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

create view staging.federal_awards_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.award_reference,
  source.federal_agency_prefix,
  source.federal_award_extension,
  source.additional_award_identification,
  source.federal_program_name,
  source.amount_expended,
  source.cluster_name,
  source.other_cluster_name,
  source.state_cluster_name,
  source.cluster_total,
  source.federal_program_total,
  source.is_major,
  source.is_loan,
  source.loan_balance,
  source.is_direct,
  source.audit_report_type,
  source.findings_count,
  source.is_passthrough_award,
  source.passthrough_amount
from staging.federal_awards as source;

create table disclosed_next.federal_awards as
select * from staging.federal_awards_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.federal_awards as
select * from staging.federal_awards_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.federal_awards
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint federal_awards_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.federal_awards
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint federal_awards_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index federal_awards_report_id on disclosed_next.federal_awards (report_id);
comment on index disclosed_next.federal_awards_report_id is
  'Finds a report''s rows, for federal_awards?report_id=eq.… or in.(…) and for embedding';
create index federal_awards_report_id on suppressed_next.federal_awards (report_id);
comment on index suppressed_next.federal_awards_report_id is
  'Finds a report''s rows, for federal_awards?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.federal_awards enable row level security;
create policy tribal_access on suppressed_next.federal_awards for select to api_tribal using (true);

create view staging.findings_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.award_reference,
  source.reference_number,
  source.is_material_weakness,
  source.is_modified_opinion,
  source.is_other_findings,
  source.is_other_matters,
  source.prior_finding_ref_numbers,
  source.is_questioned_costs,
  source.is_repeat_finding,
  source.is_significant_deficiency,
  source.type_requirement
from staging.findings as source;

create table disclosed_next.findings as
select * from staging.findings_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.findings as
select * from staging.findings_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.findings
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint findings_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.findings
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint findings_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index findings_report_id on disclosed_next.findings (report_id);
comment on index disclosed_next.findings_report_id is
  'Finds a report''s rows, for findings?report_id=eq.… or in.(…) and for embedding';
create index findings_report_id on suppressed_next.findings (report_id);
comment on index suppressed_next.findings_report_id is
  'Finds a report''s rows, for findings?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.findings enable row level security;
create policy tribal_access on suppressed_next.findings for select to api_tribal using (true);

create view staging.findings_text_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.finding_ref_number,
  source.contains_chart_or_table,
  source.finding_text
from staging.findings_text as source;

create table disclosed_next.findings_text as
select * from staging.findings_text_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.findings_text as
select * from staging.findings_text_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.findings_text
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint findings_text_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.findings_text
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint findings_text_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index findings_text_report_id on disclosed_next.findings_text (report_id);
comment on index disclosed_next.findings_text_report_id is
  'Finds a report''s rows, for findings_text?report_id=eq.… or in.(…) and for embedding';
create index findings_text_report_id on suppressed_next.findings_text (report_id);
comment on index suppressed_next.findings_text_report_id is
  'Finds a report''s rows, for findings_text?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.findings_text enable row level security;
create policy tribal_access on suppressed_next.findings_text for select to api_tribal using (true);

create view staging.corrective_action_plans_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.finding_ref_number,
  source.contains_chart_or_table,
  source.planned_action
from staging.corrective_action_plans as source;

create table disclosed_next.corrective_action_plans as
select * from staging.corrective_action_plans_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.corrective_action_plans as
select * from staging.corrective_action_plans_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.corrective_action_plans
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint corrective_action_plans_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.corrective_action_plans
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint corrective_action_plans_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index corrective_action_plans_report_id on disclosed_next.corrective_action_plans (report_id);
comment on index disclosed_next.corrective_action_plans_report_id is
  'Finds a report''s rows, for corrective_action_plans?report_id=eq.… or in.(…) and for embedding';
create index corrective_action_plans_report_id on suppressed_next.corrective_action_plans (report_id);
comment on index suppressed_next.corrective_action_plans_report_id is
  'Finds a report''s rows, for corrective_action_plans?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.corrective_action_plans enable row level security;
create policy tribal_access on suppressed_next.corrective_action_plans for select to api_tribal using (true);

create view staging.notes_to_sefa_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.title,
  source.accounting_policies,
  source.is_minimis_rate_used,
  source.rate_explained,
  source.content,
  source.contains_chart_or_table
from staging.notes_to_sefa as source;

create table disclosed_next.notes_to_sefa as
select * from staging.notes_to_sefa_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.notes_to_sefa as
select * from staging.notes_to_sefa_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.notes_to_sefa
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint notes_to_sefa_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.notes_to_sefa
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint notes_to_sefa_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index notes_to_sefa_report_id on disclosed_next.notes_to_sefa (report_id);
comment on index disclosed_next.notes_to_sefa_report_id is
  'Finds a report''s rows, for notes_to_sefa?report_id=eq.… or in.(…) and for embedding';
create index notes_to_sefa_report_id on suppressed_next.notes_to_sefa (report_id);
comment on index suppressed_next.notes_to_sefa_report_id is
  'Finds a report''s rows, for notes_to_sefa?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.notes_to_sefa enable row level security;
create policy tribal_access on suppressed_next.notes_to_sefa for select to api_tribal using (true);

create view staging.passthrough_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.award_reference,
  source.passthrough_id,
  source.passthrough_name
from staging.passthrough as source;

create table disclosed_next.passthrough as
select * from staging.passthrough_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.passthrough as
select * from staging.passthrough_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.passthrough
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint passthrough_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.passthrough
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint passthrough_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index passthrough_report_id on disclosed_next.passthrough (report_id);
comment on index disclosed_next.passthrough_report_id is
  'Finds a report''s rows, for passthrough?report_id=eq.… or in.(…) and for embedding';
create index passthrough_report_id on suppressed_next.passthrough (report_id);
comment on index suppressed_next.passthrough_report_id is
  'Finds a report''s rows, for passthrough?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.passthrough enable row level security;
create policy tribal_access on suppressed_next.passthrough for select to api_tribal using (true);

create view staging.secondary_auditors_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.auditor_ein,
  source.auditor_name,
  source.contact_name,
  source.contact_title,
  source.contact_email,
  source.contact_phone,
  source.address_street,
  source.address_city,
  source.address_state,
  source.address_zipcode
from staging.secondary_auditors as source;

create table disclosed_next.secondary_auditors as
select * from staging.secondary_auditors_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.secondary_auditors as
select * from staging.secondary_auditors_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.secondary_auditors
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint secondary_auditors_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.secondary_auditors
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint secondary_auditors_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index secondary_auditors_report_id on disclosed_next.secondary_auditors (report_id);
comment on index disclosed_next.secondary_auditors_report_id is
  'Finds a report''s rows, for secondary_auditors?report_id=eq.… or in.(…) and for embedding';
create index secondary_auditors_report_id on suppressed_next.secondary_auditors (report_id);
comment on index suppressed_next.secondary_auditors_report_id is
  'Finds a report''s rows, for secondary_auditors?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.secondary_auditors enable row level security;
create policy tribal_access on suppressed_next.secondary_auditors for select to api_tribal using (true);

create view staging.additional_ueis_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.additional_uei
from staging.additional_ueis as source;

create table disclosed_next.additional_ueis as
select * from staging.additional_ueis_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.additional_ueis as
select * from staging.additional_ueis_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.additional_ueis
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint additional_ueis_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.additional_ueis
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint additional_ueis_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index additional_ueis_report_id on disclosed_next.additional_ueis (report_id);
comment on index disclosed_next.additional_ueis_report_id is
  'Finds a report''s rows, for additional_ueis?report_id=eq.… or in.(…) and for embedding';
create index additional_ueis_report_id on suppressed_next.additional_ueis (report_id);
comment on index suppressed_next.additional_ueis_report_id is
  'Finds a report''s rows, for additional_ueis?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.additional_ueis enable row level security;
create policy tribal_access on suppressed_next.additional_ueis for select to api_tribal using (true);

create view staging.additional_eins_rows as
select
  source.report_id,
  coalesce(source.auditee_uei, (
    select reports.auditee_uei from staging.reports where reports.report_id = source.report_id
  )) as auditee_uei,
  coalesce(source.audit_year, (
    select reports.audit_year from staging.reports where reports.report_id = source.report_id
  )) as audit_year,
  coalesce(source.fac_accepted_date, (
    select reports.fac_accepted_date from staging.reports where reports.report_id = source.report_id
  )) as fac_accepted_date,
  source.additional_ein
from staging.additional_eins as source;

create table disclosed_next.additional_eins as
select * from staging.additional_eins_rows as source
where exists (select from staging.public_reports as kept where kept.report_id = source.report_id) is true;
create table suppressed_next.additional_eins as
select * from staging.additional_eins_rows as source
where exists (select from staging.suppressed_reports as kept where kept.report_id = source.report_id) is true;
alter table disclosed_next.additional_eins
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint additional_eins_report_id_is_in_general
    foreign key (report_id) references disclosed_next.general (report_id);
alter table suppressed_next.additional_eins
  alter column report_id set not null,
  alter column auditee_uei set not null,
  add constraint additional_eins_report_id_is_in_general
    foreign key (report_id) references suppressed_next.general (report_id);
create index additional_eins_report_id on disclosed_next.additional_eins (report_id);
comment on index disclosed_next.additional_eins_report_id is
  'Finds a report''s rows, for additional_eins?report_id=eq.… or in.(…) and for embedding';
create index additional_eins_report_id on suppressed_next.additional_eins (report_id);
comment on index suppressed_next.additional_eins_report_id is
  'Finds a report''s rows, for additional_eins?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.additional_eins enable row level security;
create policy tribal_access on suppressed_next.additional_eins for select to api_tribal using (true);

-- Only this table also lists superseded reports, so it has no foreign key to general.
create view staging.resubmission_rows as
select
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
where public_chains.version is distinct from 0
order by source.ctid;

create table disclosed_next.resubmission as
select * from staging.resubmission_rows as source
where exists (select from staging.reports where reports.report_id = source.report_id and reports.is_public) is true;
create table suppressed_next.resubmission as
select * from staging.resubmission_rows as source
where exists (select from staging.reports where reports.report_id = source.report_id and not reports.is_public) is true;
alter table disclosed_next.resubmission
  alter column report_id set not null,
  alter column auditee_uei set not null;
alter table suppressed_next.resubmission
  alter column report_id set not null,
  alter column auditee_uei set not null;
create index resubmission_report_id on disclosed_next.resubmission (report_id);
comment on index disclosed_next.resubmission_report_id is
  'Finds a report''s rows, for resubmission?report_id=eq.… or in.(…) and for embedding';
create index resubmission_report_id on suppressed_next.resubmission (report_id);
comment on index suppressed_next.resubmission_report_id is
  'Finds a report''s rows, for resubmission?report_id=eq.… or in.(…) and for embedding';
alter table suppressed_next.resubmission enable row level security;
create policy tribal_access on suppressed_next.resubmission for select to api_tribal using (true);

-- Identifies the data set, in one row.
create table disclosed_next.data_set as
select extensions.uuid_v7() as id, now() as built_at, null::timestamptz as published_at;

-- The public tables have no row-level security, because PostgreSQL would then use no index for operators that are not
-- leakproof (ilike, fts).
grant usage on schema disclosed_next, suppressed_next to api_public, api_tribal;
grant select on all tables in schema disclosed_next, suppressed_next to api_public, api_tribal;

-- Without this check, a column or table that is added only to staging.sql would be missing from the data set.
do $$
declare
  missing record;
begin
  select sides.name as side, source_tables.name as table_name, pg_attribute.attname
  into missing
  from staging.source_tables
  cross join (values ('disclosed_next'), ('suppressed_next')) as sides (name)
  join pg_catalog.pg_attribute on pg_attribute.attrelid = format('staging.%I', source_tables.name)::regclass
    and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
    and pg_attribute.attname not in ('source_file', 'source_row')
  where not exists (
    select
    from pg_catalog.pg_attribute as built
    where built.attrelid = to_regclass(format('%I.%I', sides.name, source_tables.name))
      and (built.attname, built.attnum) = (pg_attribute.attname, pg_attribute.attnum)
  )
  order by sides.name, source_tables.name, pg_attribute.attnum
  limit 1;
  if found then
    raise exception '%.% is missing the column %, or has it out of order. In build.sql, put it in the same position as in staging.sql.',
      missing.side, missing.table_name, missing.attname;
  end if;
end
$$;

drop schema staging cascade;
