-- Written by `npm run db:check -- --write`: the tables of each API version.

return {
  -- The version that a client gets if it names none.
  default = "api_v1_1_0",
  -- The hash of complete_order.lua.
  rules = "e017467563baee203fb9a9a5c6df08d24c2a5b04b43b3ecb238f2efd006ee38e",
  -- The columns that are unique together.
  keys = {
    api_v1_1_0 = {
      additional_eins = { "row_number" },
      additional_ueis = { "row_number" },
      corrective_action_plans = { "row_number" },
      federal_awards = { "report_id", "award_reference" },
      finding_summaries = { "report_id", "reference_number" },
      findings = { "report_id", "award_reference", "reference_number" },
      findings_text = { "row_number" },
      general = { "report_id" },
      notes_to_sefa = { "row_number" },
      passthrough = { "row_number" },
      resubmission = { "report_id" },
      secondary_auditors = { "row_number" },
      totals_by_agency = { "audit_year", "federal_agency_prefix" },
      totals_by_peers = { "audit_year", "entity_type", "expended_from", "findings" },
      totals_by_program = { "aln", "audit_year" },
      totals_by_program_and_state = { "aln", "audit_year", "auditee_state" },
      totals_by_state = { "audit_year", "auditee_state" },
    },
  },
  -- The columns that clients can name.
  columns = {
    api_v1_1_0 = {
      additional_eins = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "additional_ein", "row_number" },
      additional_ueis = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "additional_uei", "row_number" },
      corrective_action_plans = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "finding_ref_number", "contains_chart_or_table", "planned_action", "row_number" },
      federal_awards = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "award_reference", "federal_agency_prefix", "federal_award_extension", "additional_award_identification", "federal_program_name", "amount_expended", "cluster_name", "other_cluster_name", "state_cluster_name", "cluster_total", "federal_program_total", "is_major", "is_loan", "loan_balance", "is_direct", "audit_report_type", "findings_count", "is_passthrough_award", "passthrough_amount" },
      finding_summaries = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "reference_number", "auditee_state", "entity_type", "alns", "type_requirement", "is_material_weakness", "is_significant_deficiency", "is_modified_opinion", "is_other_matters", "is_other_findings", "is_questioned_costs", "is_repeat_finding", "prior_finding_ref_numbers", "is_direct", "awards", "amount_expended" },
      findings = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "award_reference", "reference_number", "is_material_weakness", "is_modified_opinion", "is_other_findings", "is_other_matters", "prior_finding_ref_numbers", "is_questioned_costs", "is_repeat_finding", "is_significant_deficiency", "type_requirement" },
      findings_text = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "finding_ref_number", "contains_chart_or_table", "finding_text", "row_number" },
      general = { "report_id", "auditee_uei", "audit_year", "auditee_certify_name", "auditee_certify_title", "auditee_contact_name", "auditee_email", "auditee_name", "auditee_phone", "auditee_contact_title", "auditee_address_line_1", "auditee_city", "auditee_state", "auditee_ein", "auditee_zip", "auditor_certify_name", "auditor_certify_title", "auditor_phone", "auditor_state", "auditor_city", "auditor_contact_title", "auditor_address_line_1", "auditor_zip", "auditor_country", "auditor_contact_name", "auditor_email", "auditor_firm_name", "auditor_foreign_address", "auditor_ein", "cognizant_agency", "oversight_agency", "date_created", "ready_for_certification_date", "auditor_certified_date", "auditee_certified_date", "submitted_date", "fac_accepted_date", "fy_end_date", "fy_start_date", "audit_type", "gaap_results", "sp_framework_basis", "is_sp_framework_required", "sp_framework_opinions", "is_going_concern_included", "is_internal_control_deficiency_disclosed", "is_internal_control_material_weakness_disclosed", "is_material_noncompliance_disclosed", "dollar_threshold", "is_low_risk_auditee", "agencies_with_prior_findings", "entity_type", "number_months", "audit_period_covered", "total_amount_expended", "type_audit_code", "is_public", "data_source", "is_aicpa_audit_guide_included", "is_additional_ueis", "resubmission_version", "resubmission_status", "is_multiple_eins", "is_secondary_auditors" },
      notes_to_sefa = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "title", "accounting_policies", "is_minimis_rate_used", "rate_explained", "content", "contains_chart_or_table", "row_number" },
      passthrough = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "award_reference", "passthrough_id", "passthrough_name", "row_number" },
      resubmission = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "version", "status", "previous_report_id", "next_report_id", "original_submission_date" },
      secondary_auditors = { "report_id", "auditee_uei", "audit_year", "fac_accepted_date", "auditor_ein", "auditor_name", "contact_name", "contact_title", "contact_email", "contact_phone", "address_street", "address_city", "address_state", "address_zipcode", "row_number" },
      totals_by_agency = { "audit_year", "federal_agency_prefix", "submissions", "awards", "amount_expended", "findings", "material_weaknesses" },
      totals_by_peers = { "audit_year", "entity_type", "expended_from", "expended_to", "findings", "submissions", "median_findings" },
      totals_by_program = { "audit_year", "aln", "federal_program_name", "awards", "amount_expended", "findings", "material_weaknesses" },
      totals_by_program_and_state = { "audit_year", "aln", "auditee_state", "awards", "amount_expended", "findings", "material_weaknesses" },
      totals_by_state = { "audit_year", "auditee_state", "submissions", "awards", "amount_expended", "findings", "material_weaknesses" },
    },
  },
  -- Other words for columns, from the columns' descriptions.
  called = {
    api_v1_1_0 = {
      federal_awards = {
        aln = { "federal_agency_prefix", "federal_award_extension" },
        assistance_listing_number = { "federal_agency_prefix", "federal_award_extension" },
        cfda = { "federal_agency_prefix", "federal_award_extension" },
      },
      finding_summaries = {
        aln = { "alns" },
        programs = { "alns" },
      },
      totals_by_program = {
        aln = { "aln" },
        assistance_listing_number = { "aln" },
        cfda = { "aln" },
        program = { "aln" },
      },
      totals_by_program_and_state = {
        aln = { "aln" },
        assistance_listing_number = { "aln" },
        cfda = { "aln" },
        program = { "aln" },
      },
    },
  },
}
