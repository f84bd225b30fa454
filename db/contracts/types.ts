// Written by npm run db:check -- --write. Do not edit.
//
// import { PostgrestClient } from "@supabase/postgrest-js";
// const api = new PostgrestClient<Database, { PostgrestVersion: "12" }, "api_v1_1_0">(baseUrl, {
//   headers: { "x-api-key": key }, schema: "api_v1_1_0",
// });

export interface Database {
  admin_api_v1_1_0: {
    Tables: Record<never, never>;
    Views: {

    };
    Functions: {
      request_file_access:
        | {
            Args: { report_id: string };
            Returns: Database["admin_api_v1_1_0"]["CompositeTypes"]["file_access"];
          };
    };
    Enums: Record<never, never>;
    CompositeTypes: {
      file_access: {
        access_uuid: string;
        expires_at: string;
      };
    };
  };
  api_v1_1_0: {
    Tables: Record<never, never>;
    Views: {
      general: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          auditee_certify_name: string | null;
          auditee_certify_title: string | null;
          auditee_contact_name: string | null;
          auditee_email: string | null;
          auditee_name: string | null;
          auditee_phone: string | null;
          auditee_contact_title: string | null;
          auditee_address_line_1: string | null;
          auditee_city: string | null;
          auditee_state: string | null;
          auditee_ein: string | null;
          auditee_zip: string | null;
          auditor_certify_name: string | null;
          auditor_certify_title: string | null;
          auditor_phone: string | null;
          auditor_state: string | null;
          auditor_city: string | null;
          auditor_contact_title: string | null;
          auditor_address_line_1: string | null;
          auditor_zip: string | null;
          auditor_country: string | null;
          auditor_contact_name: string | null;
          auditor_email: string | null;
          auditor_firm_name: string | null;
          auditor_foreign_address: string | null;
          auditor_ein: string | null;
          cognizant_agency: string | null;
          oversight_agency: string | null;
          date_created: string | null;
          ready_for_certification_date: string | null;
          auditor_certified_date: string | null;
          auditee_certified_date: string | null;
          submitted_date: string | null;
          fac_accepted_date: string | null;
          fy_end_date: string | null;
          fy_start_date: string | null;
          audit_type: string | null;
          gaap_results: string | null;
          sp_framework_basis: string | null;
          is_sp_framework_required: string | null;
          sp_framework_opinions: string | null;
          is_going_concern_included: string | null;
          is_internal_control_deficiency_disclosed: string | null;
          is_internal_control_material_weakness_disclosed: string | null;
          is_material_noncompliance_disclosed: string | null;
          dollar_threshold: number | null;
          is_low_risk_auditee: string | null;
          agencies_with_prior_findings: string | null;
          entity_type: string | null;
          number_months: string | null;
          audit_period_covered: string | null;
          total_amount_expended: number | null;
          type_audit_code: string | null;
          is_public: boolean | null;
          data_source: string | null;
          is_aicpa_audit_guide_included: string | null;
          is_additional_ueis: string | null;
          resubmission_version: number | null;
          resubmission_status: string | null;
          is_multiple_eins: string | null;
          is_secondary_auditors: string | null;
        };
        Relationships: [];
      };
      federal_awards: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          award_reference: string | null;
          federal_agency_prefix: string | null;
          federal_award_extension: string | null;
          additional_award_identification: string | null;
          federal_program_name: string | null;
          amount_expended: number | null;
          cluster_name: string | null;
          other_cluster_name: string | null;
          state_cluster_name: string | null;
          cluster_total: number | null;
          federal_program_total: number | null;
          is_major: string | null;
          is_loan: string | null;
          loan_balance: string | null;
          is_direct: string | null;
          audit_report_type: string | null;
          findings_count: number | null;
          is_passthrough_award: string | null;
          passthrough_amount: number | null;
        };
        Relationships: [];
      };
      findings: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          award_reference: string | null;
          reference_number: string | null;
          is_material_weakness: string | null;
          is_modified_opinion: string | null;
          is_other_findings: string | null;
          is_other_matters: string | null;
          prior_finding_ref_numbers: string | null;
          is_questioned_costs: string | null;
          is_repeat_finding: string | null;
          is_significant_deficiency: string | null;
          type_requirement: string | null;
        };
        Relationships: [];
      };
      findings_text: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          finding_ref_number: string | null;
          contains_chart_or_table: string | null;
          finding_text: string | null;
        };
        Relationships: [];
      };
      corrective_action_plans: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          finding_ref_number: string | null;
          contains_chart_or_table: string | null;
          planned_action: string | null;
        };
        Relationships: [];
      };
      notes_to_sefa: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          title: string | null;
          accounting_policies: string | null;
          is_minimis_rate_used: string | null;
          rate_explained: string | null;
          content: string | null;
          contains_chart_or_table: string | null;
        };
        Relationships: [];
      };
      passthrough: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          award_reference: string | null;
          passthrough_id: string | null;
          passthrough_name: string | null;
        };
        Relationships: [];
      };
      secondary_auditors: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          auditor_ein: string | null;
          auditor_name: string | null;
          contact_name: string | null;
          contact_title: string | null;
          contact_email: string | null;
          contact_phone: string | null;
          address_street: string | null;
          address_city: string | null;
          address_state: string | null;
          address_zipcode: string | null;
        };
        Relationships: [];
      };
      additional_ueis: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          additional_uei: string | null;
        };
        Relationships: [];
      };
      additional_eins: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          additional_ein: string | null;
        };
        Relationships: [];
      };
      resubmission: {
        Row: {
          report_id: string;
          auditee_uei: string | null;
          audit_year: string | null;
          fac_accepted_date: string | null;
          version: number | null;
          status: string | null;
          previous_report_id: string | null;
          next_report_id: string | null;
          original_submission_date: string | null;
        };
        Relationships: [];
      };
      totals_by_agency: {
        Row: {
          audit_year: string | null;
          federal_agency_prefix: string | null;
          submissions: number | null;
          awards: number | null;
          amount_expended: number | null;
          findings: number | null;
          material_weaknesses: number | null;
        };
        Relationships: [];
      };
      totals_by_state: {
        Row: {
          audit_year: string | null;
          auditee_state: string | null;
          submissions: number | null;
          awards: number | null;
          amount_expended: number | null;
          findings: number | null;
          material_weaknesses: number | null;
        };
        Relationships: [];
      };
    };
    Functions: {
      additional_eins:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["additional_eins"]["Row"][];
            SetofOptions: { from: "general"; to: "additional_eins"; isOneToOne: false; isSetofReturn: true };
          };
      additional_ueis:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["additional_ueis"]["Row"][];
            SetofOptions: { from: "general"; to: "additional_ueis"; isOneToOne: false; isSetofReturn: true };
          };
      corrective_action_plans:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["findings"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["corrective_action_plans"]["Row"][];
            SetofOptions: { from: "findings"; to: "corrective_action_plans"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["corrective_action_plans"]["Row"][];
            SetofOptions: { from: "general"; to: "corrective_action_plans"; isOneToOne: false; isSetofReturn: true };
          };
      federal_awards:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["findings"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["federal_awards"]["Row"][];
            SetofOptions: { from: "findings"; to: "federal_awards"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["federal_awards"]["Row"][];
            SetofOptions: { from: "general"; to: "federal_awards"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["passthrough"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["federal_awards"]["Row"][];
            SetofOptions: { from: "passthrough"; to: "federal_awards"; isOneToOne: true; isSetofReturn: true };
          };
      findings:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["corrective_action_plans"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["findings"]["Row"][];
            SetofOptions: { from: "corrective_action_plans"; to: "findings"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["federal_awards"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["findings"]["Row"][];
            SetofOptions: { from: "federal_awards"; to: "findings"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["findings_text"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["findings"]["Row"][];
            SetofOptions: { from: "findings_text"; to: "findings"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["findings"]["Row"][];
            SetofOptions: { from: "general"; to: "findings"; isOneToOne: false; isSetofReturn: true };
          };
      findings_text:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["findings"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["findings_text"]["Row"][];
            SetofOptions: { from: "findings"; to: "findings_text"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["findings_text"]["Row"][];
            SetofOptions: { from: "general"; to: "findings_text"; isOneToOne: false; isSetofReturn: true };
          };
      general:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["additional_eins"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "additional_eins"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["additional_ueis"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "additional_ueis"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["corrective_action_plans"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "corrective_action_plans"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["federal_awards"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "federal_awards"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["findings"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "findings"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["findings_text"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "findings_text"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["notes_to_sefa"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "notes_to_sefa"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["passthrough"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "passthrough"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["resubmission"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "resubmission"; to: "general"; isOneToOne: true; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["secondary_auditors"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["general"]["Row"][];
            SetofOptions: { from: "secondary_auditors"; to: "general"; isOneToOne: true; isSetofReturn: true };
          };
      notes_to_sefa:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["notes_to_sefa"]["Row"][];
            SetofOptions: { from: "general"; to: "notes_to_sefa"; isOneToOne: false; isSetofReturn: true };
          };
      passthrough:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["federal_awards"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["passthrough"]["Row"][];
            SetofOptions: { from: "federal_awards"; to: "passthrough"; isOneToOne: false; isSetofReturn: true };
          }
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["passthrough"]["Row"][];
            SetofOptions: { from: "general"; to: "passthrough"; isOneToOne: false; isSetofReturn: true };
          };
      resubmission:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["resubmission"]["Row"][];
            SetofOptions: { from: "general"; to: "resubmission"; isOneToOne: false; isSetofReturn: true };
          };
      secondary_auditors:
        | {
            Args: { "": Database["api_v1_1_0"]["Views"]["general"]["Row"] };
            Returns: Database["api_v1_1_0"]["Views"]["secondary_auditors"]["Row"][];
            SetofOptions: { from: "general"; to: "secondary_auditors"; isOneToOne: false; isSetofReturn: true };
          };
    };
    Enums: Record<never, never>;
    CompositeTypes: {

    };
  };
}
