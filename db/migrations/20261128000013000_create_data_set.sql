-- The tables of the data set: disclosed.<table> has the public rows, and suppressed.<table> has the rows of suppressed
-- submissions. Deployments own their columns, and a refresh replaces their rows (db/data_set). Columns are in the order in which
-- the API serves them, so that skipping a row is cheap. A table without a key has a row_number, so that its rows can be sorted.
-- Lock level: new tables only.

create schema disclosed;
create schema suppressed;
create schema dissemination;
comment on schema dissemination is 'One view per table of the live data set. For a suppressed submission, callers without Tribal access see only general.report_id and general.is_public.';

-- publisher replaces the schemas and their tables with each data set.
alter schema disclosed owner to publisher;
alter schema suppressed owner to publisher;
alter schema dissemination owner to publisher;
grant usage on schema disclosed, suppressed, dissemination to api_public, api_tribal;
-- The API's views read dissemination, whose views read disclosed and suppressed with the rights of the caller.
grant usage on schema dissemination to api_owner;

-- Identifies the data set, in one row. Until a refresh or a rollback sets published_at, requests get 503.
create table disclosed.data_set (
  id uuid,
  built_at timestamptz,
  published_at timestamptz
);
insert into disclosed.data_set (id, built_at) values (extensions.uuid_v7(), now());
select data_set.add_table('data_set', is_source => false);

create table disclosed.general (
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

-- The public sees that a suppressed submission exists: its ID, and that it is not public. The table has no other columns, so it
-- can hold nothing else.
create table disclosed.general_stubs (
  report_id text,
  is_public boolean
);

select data_set.add_table('general', is_source => true, key_columns => '{report_id}');

select data_set.add_table('general_stubs', is_source => false, key_columns => '{report_id}');

create table disclosed.federal_awards (
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
select data_set.add_table('federal_awards', is_source => true, key_columns => '{report_id,award_reference}');

create table disclosed.findings (
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
select data_set.add_table('findings', is_source => true, key_columns => '{report_id,award_reference,reference_number}');

create table disclosed.findings_text (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  finding_ref_number text,
  contains_chart_or_table text,
  finding_text text,
  row_number integer
);
select data_set.add_table('findings_text', is_source => true);

create table disclosed.corrective_action_plans (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  finding_ref_number text,
  contains_chart_or_table text,
  planned_action text,
  row_number integer
);
select data_set.add_table('corrective_action_plans', is_source => true);

create table disclosed.notes_to_sefa (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  title text,
  accounting_policies text,
  is_minimis_rate_used text,
  rate_explained text,
  content text,
  contains_chart_or_table text,
  row_number integer
);
select data_set.add_table('notes_to_sefa', is_source => true);

create table disclosed.passthrough (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  award_reference text,
  passthrough_id text,
  passthrough_name text,
  row_number integer
);
select data_set.add_table('passthrough', is_source => true);

create table disclosed.secondary_auditors (
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
  address_zipcode text,
  row_number integer
);
select data_set.add_table('secondary_auditors', is_source => true);

create table disclosed.additional_ueis (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  additional_uei text,
  row_number integer
);
select data_set.add_table('additional_ueis', is_source => true);

create table disclosed.additional_eins (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  additional_ein text,
  row_number integer
);
select data_set.add_table('additional_eins', is_source => true);

create table disclosed.resubmission (
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
select data_set.add_table('resubmission', is_source => true, key_columns => '{report_id}');

-- A hash of each report's public rows, in any order. Only publisher reads them.
create table disclosed.fingerprints (
  report_id text,
  is_in_general boolean,
  fingerprint numeric
);
select data_set.add_table('fingerprints', is_source => false);

-- Totals of the public rows by year.
create table disclosed.totals_by_state (
  audit_year text,
  auditee_state text,
  submissions bigint,
  awards bigint,
  amount_expended bigint,
  findings bigint,
  material_weaknesses bigint
);
select data_set.add_table('totals_by_state', is_source => false, key_columns => '{audit_year,auditee_state}');

create table disclosed.totals_by_agency (
  audit_year text,
  federal_agency_prefix text,
  submissions bigint,
  awards bigint,
  amount_expended bigint,
  findings bigint,
  material_weaknesses bigint
);
select data_set.add_table('totals_by_agency', is_source => false, key_columns => '{audit_year,federal_agency_prefix}');

create table disclosed.totals_by_program (
  audit_year text,
  aln text,
  federal_program_name text,
  awards bigint,
  amount_expended bigint,
  findings bigint,
  material_weaknesses bigint,
  -- Only for publication.search_programs(); the API does not serve it.
  names text
);
-- aln comes first, because a program has a few rows, and a year has thousands.
select data_set.add_table('totals_by_program', is_source => false, key_columns => '{aln,audit_year}');

create table disclosed.totals_by_program_and_state (
  audit_year text,
  aln text,
  auditee_state text,
  awards bigint,
  amount_expended bigint,
  findings bigint,
  material_weaknesses bigint
);
select data_set.add_table('totals_by_program_and_state', is_source => false, key_columns => '{aln,audit_year,auditee_state}');

-- How many reports of auditees of the same kind and size have how many findings.
create table disclosed.totals_by_peers (
  audit_year text,
  entity_type text,
  expended_from bigint,
  expended_to bigint,
  findings bigint,
  submissions bigint,
  median_findings bigint
);
select data_set.add_table(
  'totals_by_peers', is_source => false, key_columns => '{audit_year,entity_type,expended_from,findings}'
);

-- The same groups, and wider ones: all sizes (expended_from is null) or all kinds (entity_type is null). The API does not serve it.
create table disclosed.totals_by_peer_groups (like disclosed.totals_by_peers);
select data_set.add_table('totals_by_peer_groups', is_source => false, key_columns => '{audit_year,entity_type,expended_from,findings}');

-- publication.search_reports() finds agencies, programs and cities in this table. Reading each award of a state's reports takes a second.
create table disclosed.search_terms (
  report_id text,
  fac_accepted_date date,
  -- The auditee's state and city ("city springfield"), the audit year, "findings" if there are any, and each award's agency ("93.")
  -- and program ("93.778").
  terms text[]
);
select data_set.add_table('search_terms', is_source => false);

-- Each public finding once, however many awards it concerns, newest first.
create table disclosed.finding_summaries (
  report_id text,
  auditee_uei text,
  audit_year text,
  fac_accepted_date date,
  reference_number text,
  auditee_state text,
  entity_type text,
  alns text[],
  type_requirement text,
  is_material_weakness text,
  is_significant_deficiency text,
  is_modified_opinion text,
  is_other_matters text,
  is_other_findings text,
  is_questioned_costs text,
  is_repeat_finding text,
  prior_finding_ref_numbers text,
  is_direct text,
  awards bigint,
  amount_expended bigint,
  has_equal_rows boolean,
  direct_alns text[],
  passed_through_alns text[],
  text_words tsvector,
  plan_words tsvector
) with (toast_tuple_target = 256);
select data_set.add_table('finding_summaries', is_source => false, key_columns => '{report_id,reference_number}');
