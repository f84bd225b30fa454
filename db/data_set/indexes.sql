-- Indexes for what real clients filter and sort by. Each index's comment is a request that needs it, and the line above it is
-- the time it adds to a load of a million rows, measured with 64 MB of maintenance_work_mem. Suppressed rows have none,
-- because a scan of so few rows costs less. Deployments build new and changed indexes on the tables of the live and
-- the previous data set, and each refresh builds all of them (data_set.indexes).
--
-- The gateway completes each order with the table's key, in the direction of its last column. Indexes that clients sort by have the
-- same columns: a sort within one date would compute the embedded rows of all its reports.

-- 1.5 s. Descending orders of general end with nulls, so they have indexes of their own.
create index general_newest on disclosed.general (fac_accepted_date desc nulls last, report_id desc);
comment on index disclosed.general_newest is 'Newest first: general?order=fac_accepted_date.desc';
-- 1.5 s
create index general_fac_accepted_date on disclosed.general (fac_accepted_date, report_id);
comment on index disclosed.general_fac_accepted_date is
  'New reports: general?fac_accepted_date=gte.2024-03-01; oldest first: order=fac_accepted_date';
-- 1.5 s
create index general_latest_audit_year on disclosed.general (audit_year desc nulls last, report_id desc);
comment on index disclosed.general_latest_audit_year is 'general?order=audit_year.desc';
-- 1.5 s
create index general_audit_year on disclosed.general (audit_year, report_id);
comment on index disclosed.general_audit_year is 'general?order=audit_year';
-- 0.6 s
create index general_auditee_uei on disclosed.general (auditee_uei, report_id);
comment on index disclosed.general_auditee_uei is
  'Finds an auditee''s reports: general?auditee_uei=eq.…; general?order=auditee_uei';
-- 0.6 s
create index general_last_auditee_uei on disclosed.general (auditee_uei desc nulls last, report_id desc);
comment on index disclosed.general_last_auditee_uei is 'general?order=auditee_uei.desc';
-- 0.6 s
create index general_auditee_ein on disclosed.general (auditee_ein, report_id);
comment on index disclosed.general_auditee_ein is
  'Finds an auditee''s reports: general?auditee_ein=eq.… or in.(…); general?order=auditee_ein';
-- 0.6 s
create index general_last_auditee_ein on disclosed.general (auditee_ein desc nulls last, report_id desc);
comment on index disclosed.general_last_auditee_ein is 'general?order=auditee_ein.desc';
-- 1.2 s
create index general_auditor_ein on disclosed.general (auditor_ein, report_id);
comment on index disclosed.general_auditor_ein is
  'Finds an auditor''s reports: general?auditor_ein=eq.…; general?order=auditor_ein';
-- 1.2 s
create index general_last_auditor_ein on disclosed.general (auditor_ein desc nulls last, report_id desc);
comment on index disclosed.general_last_auditor_ein is 'general?order=auditor_ein.desc';
-- 1.5 s
create index general_audit_year_auditee_state on disclosed.general (audit_year, auditee_state);
comment on index disclosed.general_audit_year_auditee_state is
  'general?audit_year=eq.2023&auditee_state=eq.CA, and either alone: PostgreSQL 18 skips over the years';
-- 1.2 s
create index general_total_amount_expended on disclosed.general (total_amount_expended desc nulls last, report_id desc);
comment on index disclosed.general_total_amount_expended is
  'Largest reports: general?order=total_amount_expended.desc';
-- 6.0 s
create index general_auditee_name on disclosed.general
using gin (auditee_name extensions.gin_trgm_ops);
comment on index disclosed.general_auditee_name is 'Finds auditees by part of a name: general?auditee_name=ilike.*county*';
-- Words of names, without regard to case, accents and punctuation (extensions.name_words).
create index general_auditee_name_words on disclosed.general using gin (extensions.name_words(auditee_name));
comment on index disclosed.general_auditee_name_words is
  'Finds auditees by words of a name: general?words=plfts(names).anasco, and the search of the pages';
-- 1.5 s
create index general_auditee_name_and_city_words on disclosed.general
using gin (extensions.name_words(auditee_name || ', ' || auditee_city));
comment on index disclosed.general_auditee_name_and_city_words is
  'Finds auditees by words of their names and cities, and misspelled names, for the pages: /search?q=polk%20des%20moines';
create index general_auditor_firm_name_words on disclosed.general using gin (extensions.name_words(auditor_firm_name));
comment on index disclosed.general_auditor_firm_name_words is
  'Finds auditors by words of a name: general?auditor_words=plfts(names).smith, and the search of the pages';
create index secondary_auditors_auditor_name_words on disclosed.secondary_auditors
using gin (extensions.name_words(auditor_name));
comment on index disclosed.secondary_auditors_auditor_name_words is
  'Finds secondary auditors by words of a name, for the pages: /search?q=smith';
create index secondary_auditors_auditor_ein on disclosed.secondary_auditors (auditor_ein, report_id);
comment on index disclosed.secondary_auditors_auditor_ein is
  'Finds secondary auditors by EIN: secondary_auditors?auditor_ein=eq.…, and the search of the pages';
-- 0.1 s
create index additional_ueis_additional_uei on disclosed.additional_ueis (additional_uei, report_id);
comment on index disclosed.additional_ueis_additional_uei is
  'Finds reports by an additional UEI: additional_ueis?additional_uei=eq.…, and the search and check of the pages';
-- 0.1 s
create index additional_eins_additional_ein on disclosed.additional_eins (additional_ein, report_id);
comment on index disclosed.additional_eins_additional_ein is
  'Finds reports by an additional EIN: additional_eins?additional_ein=eq.…, and the search and check of the pages';
-- 0.1 s
create index search_terms_terms on disclosed.search_terms using gin (terms);
comment on index disclosed.search_terms_terms is
  'Finds the reports of a city, or with awards of an agency or program, in a state and year, for the pages: /search?q=93.778 TX';
-- 0.5 s
create index search_terms_newest on disclosed.search_terms (fac_accepted_date desc nulls last, report_id desc);
comment on index disclosed.search_terms_newest is 'Finds the newest reports with awards of an agency, if most reports have such awards: /search?q=93';
-- 1.2 s
create index federal_awards_assistance_listing on disclosed.federal_awards
(federal_agency_prefix, federal_award_extension);
comment on index disclosed.federal_awards_assistance_listing is
  'Finds a program''s awards: federal_awards?federal_agency_prefix=eq.93&federal_award_extension=eq.778';
-- The files are ordered by year, so a scan would read all earlier years first. 1.2 s
create index federal_awards_audit_year_agency on disclosed.federal_awards
(audit_year, federal_agency_prefix);
comment on index disclosed.federal_awards_audit_year_agency is
  'federal_awards?audit_year=eq.2023, with or without federal_agency_prefix=eq.93';
-- 0.9 s
create index federal_awards_audit_year on disclosed.federal_awards (audit_year, report_id);
comment on index disclosed.federal_awards_audit_year is
  'Latest year first: federal_awards?order=audit_year.desc';
-- 0.6 s
create index federal_awards_fac_accepted_date on disclosed.federal_awards (fac_accepted_date, report_id);
comment on index disclosed.federal_awards_fac_accepted_date is
  'New awards, for copies: federal_awards?fac_accepted_date=gte.2024-03-01; newest first: order=fac_accepted_date.desc';
-- 0.6 s
create index federal_awards_amount_expended on disclosed.federal_awards (amount_expended);
comment on index disclosed.federal_awards_amount_expended is
  'Largest awards: federal_awards?order=amount_expended.desc';
-- 0.7 s, where a scan of 700,000 rows takes 0.4 s
create index federal_awards_auditee_uei on disclosed.federal_awards (auditee_uei, report_id);
comment on index disclosed.federal_awards_auditee_uei is
  'Finds an auditee''s awards: federal_awards?auditee_uei=eq.…';
-- Few awards have such an opinion, so finding them by their reports' IDs alone would read all awards of 5,000 reports.
create index federal_awards_modified_opinion on disclosed.federal_awards (report_id)
where audit_report_type in ('Q', 'A', 'D');
comment on index disclosed.federal_awards_modified_opinion is
  'Finds the programs with a modified opinion, for the pages: /check?u=…, /search?q=smith';
-- 0.5 s
create index findings_reference_number on disclosed.findings (reference_number, report_id);
comment on index disclosed.findings_reference_number is 'findings?reference_number=eq.2023-001';

-- Parts of names and of texts, with like, ilike, match and imatch.
-- 8 s
create index federal_awards_federal_program_name on disclosed.federal_awards
using gin (federal_program_name extensions.gin_trgm_ops);
comment on index disclosed.federal_awards_federal_program_name is
  'Finds programs by part of a name: federal_awards?federal_program_name=ilike.*head start*';
-- 6 s
create index passthrough_passthrough_name on disclosed.passthrough
using gin (passthrough_name extensions.gin_trgm_ops);
comment on index disclosed.passthrough_passthrough_name is
  'Finds pass-through entities by part of a name: passthrough?passthrough_name=ilike.*department of*';
-- 83 s for 213,000 texts
create index findings_text_finding_text on disclosed.findings_text
using gin (finding_text extensions.gin_trgm_ops);
comment on index disclosed.findings_text_finding_text is
  'Finds narratives by part of a text: findings_text?finding_text=ilike.*casino*';
-- 21 s for 213,000 texts
create index corrective_action_plans_planned_action on disclosed.corrective_action_plans
using gin (planned_action extensions.gin_trgm_ops);
comment on index disclosed.corrective_action_plans_planned_action is
  'Finds plans by part of a text: corrective_action_plans?planned_action=ilike.*casino*';
-- 50 s for 791,000 texts
create index notes_to_sefa_content on disclosed.notes_to_sefa
using gin (content extensions.gin_trgm_ops);
comment on index disclosed.notes_to_sefa_content is
  'Finds notes by part of a text: notes_to_sefa?content=ilike.*casino*';

-- Words of names and of texts, with fts, plfts, phfts and wfts. Only searches for phrases also read the texts.
-- 3.5 s
create index general_auditee_name_english on disclosed.general using gin (extensions.text_words(auditee_name));
comment on index disclosed.general_auditee_name_english is
  'Finds auditees by English words: general?auditee_name=plfts.okanogan';
-- 4.2 s
create index federal_awards_federal_program_name_english on disclosed.federal_awards
using gin (extensions.text_words(federal_program_name));
comment on index disclosed.federal_awards_federal_program_name_english is
  'Finds programs by words of a name: federal_awards?federal_program_name=plfts.grandparent';
-- 3 s
create index passthrough_passthrough_name_english on disclosed.passthrough
using gin (extensions.text_words(passthrough_name));
comment on index disclosed.passthrough_passthrough_name_english is
  'Finds pass-through entities by words of a name: passthrough?passthrough_name=plfts.okanogan';
-- 59 s for 213,000 texts
create index findings_text_finding_text_english on disclosed.findings_text
using gin (extensions.text_words(finding_text));
comment on index disclosed.findings_text_finding_text_english is
  'Finds narratives by words: findings_text?finding_text=plfts.procurement';
-- 10 s for 213,000 texts
create index corrective_action_plans_planned_action_english on disclosed.corrective_action_plans
using gin (extensions.text_words(planned_action));
comment on index disclosed.corrective_action_plans_planned_action_english is
  'Finds plans by words: corrective_action_plans?planned_action=plfts.procurement';
-- 34 s for 791,000 texts
create index notes_to_sefa_content_english on disclosed.notes_to_sefa
using gin (extensions.text_words(content));
comment on index disclosed.notes_to_sefa_content_english is 'Finds notes by words: notes_to_sefa?content=plfts.lease';
-- 0.3 s for 183,000 findings
create index finding_summaries_alns on disclosed.finding_summaries using gin (alns);
comment on index disclosed.finding_summaries_alns is
  'Finds the findings on a program: finding_summaries?alns=cs.{93.778}';
-- 10 s for 183,000 findings
create index finding_summaries_text_words on disclosed.finding_summaries using gin (text_words);
comment on index disclosed.finding_summaries_text_words is
  'Finds findings by words of their whole texts: the page /findings?words=procurement';
-- 4 s for 183,000 findings
create index finding_summaries_plan_words on disclosed.finding_summaries using gin (plan_words);
comment on index disclosed.finding_summaries_plan_words is 'Finds findings by words of their plans: the page /findings?words=procurement';
