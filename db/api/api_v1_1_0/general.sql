-- The table that most clients read first: who was audited, by whom, for which period, and with what result.
-- One row is one report.
create view api_v1_1_0.general
with (security_invoker = true) as
select
  general.report_id,
  general.auditee_uei,
  general.audit_year,
  general.auditee_certify_name,
  general.auditee_certify_title,
  general.auditee_contact_name,
  general.auditee_email,
  general.auditee_name,
  general.auditee_phone,
  general.auditee_contact_title,
  general.auditee_address_line_1,
  general.auditee_city,
  general.auditee_state,
  general.auditee_ein,
  general.auditee_zip,
  general.auditor_certify_name,
  general.auditor_certify_title,
  general.auditor_phone,
  general.auditor_state,
  general.auditor_city,
  general.auditor_contact_title,
  general.auditor_address_line_1,
  general.auditor_zip,
  general.auditor_country,
  general.auditor_contact_name,
  general.auditor_email,
  general.auditor_firm_name,
  general.auditor_foreign_address,
  general.auditor_ein,
  general.cognizant_agency,
  general.oversight_agency,
  general.date_created,
  general.ready_for_certification_date,
  general.auditor_certified_date,
  general.auditee_certified_date,
  general.submitted_date,
  general.fac_accepted_date,
  general.fy_end_date,
  general.fy_start_date,
  general.audit_type,
  general.gaap_results,
  general.sp_framework_basis,
  general.is_sp_framework_required,
  general.sp_framework_opinions,
  general.is_going_concern_included,
  general.is_internal_control_deficiency_disclosed,
  general.is_internal_control_material_weakness_disclosed,
  general.is_material_noncompliance_disclosed,
  general.dollar_threshold,
  general.is_low_risk_auditee,
  general.agencies_with_prior_findings,
  general.entity_type,
  general.number_months,
  general.audit_period_covered,
  general.total_amount_expended,
  general.type_audit_code,
  general.is_public,
  general.data_source,
  general.is_aicpa_audit_guide_included,
  general.is_additional_ueis,
  general.resubmission_version,
  general.resubmission_status,
  general.is_multiple_eins,
  general.is_secondary_auditors
from dissemination.general;

comment on view api_v1_1_0.general is
  'Single Audit reports

One row per report: auditee, auditor, audited period, totals, and results for the financial
statements.

report_id joins to every other table that has it, and each of them can be embedded:
select=report_id,federal_awards(*).

Source: data collection form SF-SAC, which the auditee and the auditor complete and certify under
2 CFR 200.512(b).

Suppressed submissions: an Indian tribe or tribal organization may opt not to make its reporting
package public (2 CFR 200.512(b)(2)). For such a report, callers without Tribal access see only
report_id and is_public = false. All other columns are null.

Superseded reports are only in `resubmission`.';
comment on column api_v1_1_0.general.report_id is
  E'Report ID\n'
  'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": normally the year and month in which the '
  'audited fiscal year ends, then GSAFAC or CENSUS, then ten digits. Unique here, never null; joins to report_id in other tables.';
comment on column api_v1_1_0.general.auditee_uei is
  E'Auditee UEI\n'
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs. Other UEIs that the audit covers are in additional_ueis.';
comment on column api_v1_1_0.general.auditee_certify_name is
  E'Auditee certifying official\n'
  'Name of the official who certified the submission for the auditee (2 CFR 200.512(b)(1)).';
comment on column api_v1_1_0.general.auditee_certify_title is
  E'Auditee certifying official’s title\n'
  'Title of the official who certified the submission for the auditee.';
comment on column api_v1_1_0.general.auditee_contact_name is
  E'Auditee contact\n'
  'Name of the contact person at the auditee.';
comment on column api_v1_1_0.general.auditee_email is
  E'Auditee contact’s email\n'
  'Email address of the contact person at the auditee.';
comment on column api_v1_1_0.general.auditee_name is
  E'Auditee name\n'
  'Name of the auditee, as entered on form SF-SAC. Spelling and case vary between years; '
  'auditee_uei or auditee_ein identifies an auditee better. words=plfts(names).shelby county finds '
  'names by words, in any case and order, with or without accents.';
comment on column api_v1_1_0.general.auditee_phone is
  E'Auditee contact’s phone\n'
  'Telephone number of the contact person at the auditee, as text.';
comment on column api_v1_1_0.general.auditee_contact_title is
  E'Auditee contact’s title\n'
  'Title of the contact person at the auditee.';
comment on column api_v1_1_0.general.auditee_address_line_1 is
  E'Auditee street address\n'
  'Street address of the auditee.';
comment on column api_v1_1_0.general.auditee_city is
  E'Auditee city\n'
  'City of the auditee.';
comment on column api_v1_1_0.general.auditee_state is
  E'Auditee state\n'
  'State or territory of the auditee, two-letter postal abbreviation.';
comment on column api_v1_1_0.general.auditee_ein is
  E'Auditee EIN\n'
  'Employer Identification Number (EIN) of the auditee: nine digits without a dash, as text '
  'because leading zeros matter. Reports older than UEIs have an EIN, too. Other EINs that the '
  'audit covers are in additional_eins.';
comment on column api_v1_1_0.general.auditee_zip is
  E'Auditee ZIP code\n'
  'ZIP code of the auditee: five or nine digits without a dash, as text. like.NNNNN* finds both '
  'forms.';
comment on column api_v1_1_0.general.auditor_certify_name is
  E'Auditor certifying official\n'
  'Name of the person who certified the submission for the audit firm (2 CFR 200.512(b)(3)).';
comment on column api_v1_1_0.general.auditor_certify_title is
  E'Auditor certifying official’s title\n'
  'Title of the person who certified the submission for the audit firm.';
comment on column api_v1_1_0.general.auditor_phone is
  E'Auditor contact’s phone\n'
  'Telephone number of the contact person at the audit firm, as text.';
comment on column api_v1_1_0.general.auditor_state is
  E'Auditor state\n'
  'State or territory of the audit firm, two-letter postal abbreviation; may be empty for a '
  'foreign firm.';
comment on column api_v1_1_0.general.auditor_city is
  E'Auditor city\n'
  'City of the audit firm; may be empty for a foreign firm.';
comment on column api_v1_1_0.general.auditor_contact_title is
  E'Auditor contact’s title\n'
  'Title of the contact person at the audit firm.';
comment on column api_v1_1_0.general.auditor_address_line_1 is
  E'Auditor street address\n'
  'Street address of the audit firm; may be empty for a foreign firm.';
comment on column api_v1_1_0.general.auditor_zip is
  E'Auditor ZIP code\n'
  'ZIP code of the audit firm: five or nine digits without a dash, as text; may be empty for a '
  'foreign firm.';
comment on column api_v1_1_0.general.auditor_country is
  E'Auditor country\n'
  'Country of the audit firm, as entered on form SF-SAC.';
comment on column api_v1_1_0.general.auditor_contact_name is
  E'Auditor contact\n'
  'Name of the contact person at the audit firm.';
comment on column api_v1_1_0.general.auditor_email is
  E'Auditor contact’s email\n'
  'Email address of the contact person at the audit firm.';
comment on column api_v1_1_0.general.auditor_firm_name is
  E'Audit firm\n'
  'Name of the audit firm that signed the report. Firms that did part of the audit are in '
  'secondary_auditors. auditor_words=plfts(names).smith finds names by words.';
comment on column api_v1_1_0.general.auditor_foreign_address is
  E'Auditor foreign address\n'
  'Complete address, as a single string, of an audit firm outside the United States; otherwise empty.';
comment on column api_v1_1_0.general.auditor_ein is
  E'Auditor EIN\n'
  'Employer Identification Number (EIN) of the audit firm: nine digits without a dash, as text.';
comment on column api_v1_1_0.general.cognizant_agency is
  E'Cognizant agency\n'
  'Cognizant agency for audit (2 CFR 200.513(a)): the two-digit agency part of an Assistance Listing number, '
  'as text. Only the largest auditees have one. The empty string if the auditee has an oversight agency instead.';
comment on column api_v1_1_0.general.oversight_agency is
  E'Oversight agency\n'
  'Oversight agency for audit (2 CFR 200.513(b)): the two-digit agency part of an Assistance Listing number, '
  'as text. The empty string if the auditee has a cognizant agency instead.';
comment on column api_v1_1_0.general.date_created is
  E'Date created\n'
  'Date on which the submission was started, YYYY-MM-DD.';
comment on column api_v1_1_0.general.ready_for_certification_date is
  E'Date ready for certification\n'
  'Date on which the submission was complete and ready to be certified, YYYY-MM-DD.';
comment on column api_v1_1_0.general.auditor_certified_date is
  E'Date certified by auditor\n'
  'Date on which the auditor certified the submission, YYYY-MM-DD (2 CFR 200.512(b)(3)).';
comment on column api_v1_1_0.general.auditee_certified_date is
  E'Date certified by auditee\n'
  'Date on which the auditee certified the submission, YYYY-MM-DD (2 CFR 200.512(b)(1)).';
comment on column api_v1_1_0.general.submitted_date is
  E'Date submitted\n'
  'Date on which the submission was sent to the Federal Audit Clearinghouse, YYYY-MM-DD. The submission is '
  'due 30 days after the auditee receives the auditor''s report or nine months after the period '
  'ends, whichever is earlier (2 CFR 200.512(a)(1)).';
comment on column api_v1_1_0.general.fac_accepted_date is
  E'Date accepted\n'
  'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD. To find new reports, use '
  'fac_accepted_date=gte.YYYY-MM-DD. To find changed reports, and the few without a date, use the manifest of '
  'the bulk files, which lists all changes.';
comment on column api_v1_1_0.general.fy_end_date is
  E'Fiscal year end\n'
  'Last day of the audited period, YYYY-MM-DD. The report_id normally starts with this day''s year '
  'and month.';
comment on column api_v1_1_0.general.fy_start_date is
  E'Fiscal year start\n'
  'First day of the audited period, YYYY-MM-DD.';
comment on column api_v1_1_0.general.audit_type is
  E'Audit type\n'
  '"single-audit" (2 CFR 200.514) or "program-specific" (2 CFR 200.507).';
comment on column api_v1_1_0.general.gaap_results is
  E'Opinion on financial statements (GAAP)\n'
  'Opinions on the financial statements (2 CFR 200.515(d)(1)(i)), as one comma-separated string: '
  'unmodified_opinion, qualified_opinion, adverse_opinion, disclaimer_of_opinion, or not_gaap '
  'if the statements were not prepared under GAAP. Opinions may differ by opinion unit, so '
  'expect several.';
comment on column api_v1_1_0.general.sp_framework_basis is
  E'Special-purpose framework\n'
  'Special-purpose frameworks of statements that do not follow GAAP, comma-separated: cash_basis, '
  'tax_basis, regulatory_basis, contractual_basis, other_basis. Often empty; applies only '
  'if gaap_results contains not_gaap.';
comment on column api_v1_1_0.general.is_sp_framework_required is
  E'Special-purpose framework required\n'
  'Whether state or tribal law requires the special-purpose framework; this matters for low-risk '
  'status (2 CFR 200.520(b)). "Yes", "No", or empty if the statements follow GAAP.';
comment on column api_v1_1_0.general.sp_framework_opinions is
  E'Opinion on special-purpose framework\n'
  'Opinions on statements under the special-purpose framework, comma-separated: '
  'unmodified_opinion, qualified_opinion, adverse_opinion, disclaimer_of_opinion. Often empty.';
comment on column api_v1_1_0.general.is_going_concern_included is
  E'Going concern\n'
  'Whether the auditor''s report mentions substantial doubt about the auditee''s ability to '
  'continue as a going concern. "Yes" or "No", or "GSA_MIGRATION" if a migrated record has '
  'no answer.';
comment on column api_v1_1_0.general.is_internal_control_deficiency_disclosed is
  E'Significant deficiency (financial statements)\n'
  'Whether the audit of the financial statements disclosed significant deficiencies in internal '
  'control (2 CFR 200.515(d)(1)(ii)). "Yes" or "No", or "GSA_MIGRATION" if a migrated record '
  'has no answer.';
comment on column api_v1_1_0.general.is_internal_control_material_weakness_disclosed is
  E'Material weakness (financial statements)\n'
  'Whether the audit of the financial statements disclosed material weaknesses in internal '
  'control (2 CFR 200.515(d)(1)(ii)). "Yes" or "No", or "GSA_MIGRATION" if a migrated record '
  'has no answer.';
comment on column api_v1_1_0.general.is_material_noncompliance_disclosed is
  E'Material noncompliance (financial statements)\n'
  'Whether the audit disclosed noncompliance that is material to the financial statements '
  '(2 CFR 200.515(d)(1)(iii)). "Yes" or "No", or "GSA_MIGRATION" if a migrated record has no '
  'answer.';
comment on column api_v1_1_0.general.dollar_threshold is
  E'Type A program threshold\n'
  'Threshold in whole US dollars between Type A and Type B programs (2 CFR 200.518(b), '
  '200.515(d)(1)(viii)), for example 750000. -999999999 means none: exclude it from sums and '
  'averages.';
comment on column api_v1_1_0.general.is_low_risk_auditee is
  E'Low-risk auditee\n'
  'Whether the auditee qualified as low-risk under 2 CFR 200.520. "Yes" or "No", or '
  '"GSA_MIGRATION" if a migrated record has no answer.';
comment on column api_v1_1_0.general.agencies_with_prior_findings is
  E'Agencies with prior findings\n'
  'Federal agencies whose direct awards have prior findings in the summary schedule of prior '
  'audit findings (2 CFR 200.511(b)): two-digit agency prefixes, as one comma-separated string. '
  '"00" means none.';
comment on column api_v1_1_0.general.entity_type is
  E'Entity type\n'
  'Kind of auditee: "state", "local", "tribal", "higher-ed", "non-profit" or "unknown".';
comment on column api_v1_1_0.general.number_months is
  E'Months in audit period\n'
  'Number of months covered, as text; empty unless audit_period_covered is "other".';
comment on column api_v1_1_0.general.audit_period_covered is
  E'Audit period\n'
  'Length of the audited period: "annual", "biennial" (2 CFR 200.504) or "other". For "other", '
  'number_months has the length.';
comment on column api_v1_1_0.general.total_amount_expended is
  E'Total federal awards expended\n'
  'Total Federal awards expended in the audited period, in whole US dollars (2 CFR 200.502, '
  '200.510(b)).';
comment on column api_v1_1_0.general.type_audit_code is
  E'Audit rules\n'
  'Rules under which the audit was conducted: "UG", the Uniform Guidance (2 CFR 200 Subpart F).';
comment on column api_v1_1_0.general.is_public is
  E'Public\n'
  'Whether the report is public, as a boolean. If false, the report is suppressed: normally the auditee, '
  'an Indian tribe or tribal organization, opted not to make the reporting package public '
  '(2 CFR 200.512(b)(2)). Without Tribal access, all its columns except report_id and is_public are null.';
comment on column api_v1_1_0.general.data_source is
  E'Data source\n'
  'Where the report was submitted: "GSAFAC", the clearinghouse of the General Services '
  'Administration, or "CENSUS", its predecessor at the Census Bureau, from which the record was '
  'migrated.';
comment on column api_v1_1_0.general.is_aicpa_audit_guide_included is
  E'Excludes separately audited units (AICPA Audit Guide)\n'
  'Whether the auditor''s report states that the financial statements include units, such as '
  'departments or agencies, that this audit excludes because they have their own Uniform Guidance '
  'audits (AICPA Audit Guide). "Yes" or "No", or "GSA_MIGRATION" if a migrated record has no answer.';
comment on column api_v1_1_0.general.is_additional_ueis is
  E'Has additional UEIs\n'
  'Whether the audit covers other UEIs, listed in additional_ueis. "Yes" or "No", or "GSA_MIGRATION" '
  'if a migrated record has no answer.';
comment on column api_v1_1_0.general.resubmission_version is
  E'Resubmission version\n'
  'Number of this report within its chain of resubmissions. Later reports have higher numbers. '
  '0 if the report has no resubmission data.';
comment on column api_v1_1_0.general.resubmission_status is
  E'Resubmission status\n'
  '"most_recent", "unknown_resubmission_status", or null if the report has no '
  'resubmission data. Superseded reports ("deprecated_via_resubmission") are only in `resubmission`.';
comment on column api_v1_1_0.general.is_multiple_eins is
  E'Has additional EINs\n'
  'Whether the audit covers other EINs: "Yes" if additional_eins has rows for this report, '
  'else "No".';
comment on column api_v1_1_0.general.is_secondary_auditors is
  E'Has secondary auditors\n'
  'Whether other audit firms took part: "Yes" if secondary_auditors has rows for this report, '
  'else "No".';

grant select on api_v1_1_0.general to api_public, api_tribal;

-- Embedding: the other views' files have their relationships with general.
