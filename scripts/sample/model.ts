/** Null is empty in a CSV file, the empty string is "". Booleans become t and f. */
export type Value = string | number | boolean | null;

export type Row = Record<string, Value>;

/** The rows of one submission: what they all begin with, and the rest of each. */
export type Submission = { key: Key; tables: Record<string, Row[]> };

export const entityTypes = ["local", "non-profit", "higher-ed", "state", "tribal", "unknown"] as const;

export type EntityType = (typeof entityTypes)[number];

/** Who is audited: the same over the years. */
export type Auditee = {
  entityType: EntityType;
  name: string;
  uei: string;
  ein: string;
  address: string;
  city: string;
  state: string;
  zip: string;
  contact: Person;
  certifier: Person;
  /** In [0, 1): how large it is among its kind. */
  size: number;
  /** Month of the fiscal year's end, 1 to 12. */
  fiscalYearEndMonth: number;
};

export type Person = { name: string; title: string; email: string; phone: string };

export type Auditor = {
  firm: string;
  ein: string;
  address: string;
  city: string;
  state: string;
  zip: string;
  contact: Person;
  certifier: Person;
};

/** One submission of a report: the current one, or one that a later one superseded. */
export type Filing = {
  seed: number;
  /** Which current submission this is, or belongs to the history of. */
  index: number;
  reportId: string;
  auditee: Auditee;
  /** What child rows repeat: GSA_MIGRATION on records that are older than UEIs. */
  uei: string;
  auditYear: number;
  dates: { start: string; end: string; accepted: string };
  periodCovered: "annual" | "biennial" | "other";
  numberMonths: string;
  isMigrated: boolean;
  isPublic: boolean;
  /** How many later submissions superseded this one. 0: current. */
  superseded: number;
  resubmission: Resubmission | null;
};

export type Resubmission = {
  version: number;
  status: "most_recent" | "deprecated_via_resubmission" | "unknown_resubmission_status";
  previousReportId: string | null;
  nextReportId: string | null;
  originalSubmissionDate: string;
};

/** What every row of a submission begins with. */
export type Key = { report_id: string; auditee_uei: string; audit_year: string; fac_accepted_date: string };

/** A row of federal_awards without its key. */
export type Award = {
  award_reference: string;
  federal_agency_prefix: string;
  federal_award_extension: string;
  additional_award_identification: string | null;
  federal_program_name: string;
  amount_expended: number;
  cluster_name: string;
  other_cluster_name: string;
  state_cluster_name: string;
  cluster_total: number;
  federal_program_total: number;
  is_major: string;
  is_loan: string;
  loan_balance: string;
  is_direct: string;
  audit_report_type: string;
  findings_count: number;
  is_passthrough_award: string;
  passthrough_amount: number | null;
};

/** One finding, whatever the number of awards it concerns. */
export type Finding = {
  reference: string;
  awards: Award[];
  requirement: string;
  isMaterialWeakness: boolean;
  isSignificantDeficiency: boolean;
  isModifiedOpinion: boolean;
  isOtherMatters: boolean;
  isOtherFindings: boolean;
  hasQuestionedCosts: boolean;
  priorReferences: string;
};
