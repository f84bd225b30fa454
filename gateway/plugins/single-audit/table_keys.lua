-- Written by `npm run db:check -- --write`: the columns of each table that are unique together, by API version.

return {
  -- The version that a client gets if it names none.
  default = "api_v1_1_0",
  -- The hash of complete_order.lua.
  rules = "6e5ca7bef20c134954f1acf863305e9f4889e85490b73c0e0aa0e9e5e6511559",
  api_v1_1_0 = {
    additional_eins = { "row_number" },
    additional_ueis = { "row_number" },
    corrective_action_plans = { "row_number" },
    federal_awards = { "report_id", "award_reference" },
    findings = { "report_id", "award_reference", "reference_number" },
    findings_text = { "row_number" },
    general = { "report_id" },
    notes_to_sefa = { "row_number" },
    passthrough = { "row_number" },
    resubmission = { "report_id" },
    secondary_auditors = { "row_number" },
    totals_by_agency = { "audit_year", "federal_agency_prefix" },
    totals_by_program = { "aln", "audit_year" },
    totals_by_state = { "audit_year", "auditee_state" },
  },
}
