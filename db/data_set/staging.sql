-- The tables of a data set, as they are in the source files: one row per line, in the order of the files. Columns are in the
-- order in which the API serves them, so that skipping a row is cheap. Each column has only a name and a type, and the first
-- four columns of every table are the same, because the sample data is generated from this file too.
-- check.sql finds faults in the rows, build.sql builds the published tables from them, and indexes.sql their indexes. The
-- loader does all of it in one transaction, so that COPY keeps the order of the files: it ignores the free space map of a
-- table that the same transaction created.

create schema staging;

create unlogged table staging.general (
  report_id text,
  auditee_uei text,
  audit_year text,
  auditee_certify_name text,
  auditee_certify_title text,
  auditee_contact_name text,
  auditee_email text,
  auditee_name text,
  auditee_phone text,
  auditee_contact_title text,
  auditee_address_line_1 text,
  auditee_city text,
  auditee_state text,
  auditee_ein text,
  auditee_zip text,
  auditor_certify_name text,
  auditor_certify_title text,
  auditor_phone text,
  auditor_state text,
  auditor_city text,
  auditor_contact_title text,
  auditor_address_line_1 text,
  auditor_zip text,
  auditor_country text,
  auditor_contact_name text,
  auditor_email text,
  auditor_firm_name text,
  auditor_foreign_address text,
  auditor_ein text,
  cognizant_agency text,
  oversight_agency text,
  date_created date,
  ready_for_certification_date date,
  auditor_certified_date date,
  auditee_certified_date date,
  submitted_date date,
  fac_accepted_date date,
  fy_end_date date,
  fy_start_date date,
  audit_type text,
  gaap_results text,
  sp_framework_basis text,
  is_sp_framework_required text,
  sp_framework_opinions text,
  is_going_concern_included text,
  is_internal_control_deficiency_disclosed text,
  is_internal_control_material_weakness_disclosed text,
  is_material_noncompliance_disclosed text,
  dollar_threshold bigint,
  is_low_risk_auditee text,
  agencies_with_prior_findings text,
  entity_type text,
  number_months text,
  audit_period_covered text,
  total_amount_expended bigint,
  type_audit_code text,
  is_public boolean,
  data_source text,
  is_aicpa_audit_guide_included text,
  is_additional_ueis text,
  resubmission_version bigint,
  resubmission_status varchar(30),
  is_multiple_eins text,
  is_secondary_auditors text
);

create unlogged table staging.federal_awards (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  award_reference text,
  federal_agency_prefix text,
  federal_award_extension text,
  additional_award_identification text,
  federal_program_name text,
  amount_expended bigint,
  cluster_name text,
  other_cluster_name text,
  state_cluster_name text,
  cluster_total bigint,
  federal_program_total bigint,
  is_major text,
  is_loan text,
  loan_balance text,
  is_direct text,
  audit_report_type text,
  findings_count integer,
  is_passthrough_award text,
  passthrough_amount bigint
);

create unlogged table staging.findings (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  award_reference text,
  reference_number text,
  is_material_weakness text,
  is_modified_opinion text,
  is_other_findings text,
  is_other_matters text,
  prior_finding_ref_numbers text,
  is_questioned_costs text,
  is_repeat_finding text,
  is_significant_deficiency text,
  type_requirement text
);

create unlogged table staging.findings_text (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  finding_ref_number text,
  contains_chart_or_table text,
  finding_text text
);

create unlogged table staging.corrective_action_plans (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  finding_ref_number text,
  contains_chart_or_table text,
  planned_action text
);

create unlogged table staging.notes_to_sefa (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  title text,
  accounting_policies text,
  is_minimis_rate_used text,
  rate_explained text,
  content text,
  contains_chart_or_table text
);

create unlogged table staging.passthrough (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  award_reference text,
  passthrough_id text,
  passthrough_name text
);

create unlogged table staging.secondary_auditors (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  auditor_ein text,
  auditor_name text,
  contact_name text,
  contact_title text,
  contact_email text,
  contact_phone text,
  address_street text,
  address_city text,
  address_state text,
  address_zipcode text
);

create unlogged table staging.additional_ueis (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  additional_uei text
);

create unlogged table staging.additional_eins (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  additional_ein text
);

create unlogged table staging.resubmission (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  version bigint,
  status varchar(30),
  previous_report_id text,
  next_report_id text,
  original_submission_date date
);

-- The only list of source tables: the tables above, in this order.
create unlogged table staging.source_tables as
select pg_class.relname::text as name
from pg_catalog.pg_class
where pg_class.relnamespace = 'staging'::regnamespace and pg_class.relkind = 'r'
order by pg_class.oid;

-- The columns of a table that are unique together, null included. check.sql finds duplicates, and build.sql creates the
-- constraints. The other tables have no key.
create unlogged table staging.unique_keys (
  table_name text primary key,
  -- The key's index also finds a report's rows.
  columns text[] not null check (columns[1] = 'report_id')
);
insert into staging.unique_keys (table_name, columns) values
('general', '{report_id}'),
('federal_awards', '{report_id,award_reference}'),
('findings', '{report_id,award_reference,reference_number}'),
('resubmission', '{report_id}');

-- Columns that a file may leave out: build.sql derives them.
create unlogged table staging.derived_columns as
select unnest(array[
  'auditee_uei',
  'audit_year',
  'fac_accepted_date',
  'is_multiple_eins',
  'is_secondary_auditors',
  'original_submission_date',
  'resubmission_version',
  'resubmission_status'
]) as name;

-- Where each row comes from: the number of its file, and the row's number in the table. The published tables lack these
-- columns.
do $$
declare
  table_name text;
begin
  for table_name in select name from staging.source_tables loop
    execute format(
      'alter table staging.%I add column source_file smallint not null, '
      'add column source_row integer not null generated always as identity (cache 1000)',
      table_name
    );
  end loop;
end
$$;

-- Reports whose row in general the loader left out: none of their rows is published. is_public is that row's text.
create unlogged table staging.rejected_reports (report_id text, is_public text);
