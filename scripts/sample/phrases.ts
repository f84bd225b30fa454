/**
 * Sentences of audit narratives, by section. Filled in: {auditee} a short word for it, {program}, {number},
 * {n} a small count, {m} a larger one, {dollars}, {year}, {prior}, {area}, {title}.
 */
export const FINDING_SECTIONS: readonly (readonly [string, readonly string[]])[] = [
  [
    "Criteria or specific requirement",
    [
      "2 CFR §\u00a0200.303 requires a non-Federal entity to establish and maintain effective internal control over its Federal awards.",
      "The Uniform Guidance requires that costs charged to {number} be necessary, reasonable and adequately documented.",
      "The OMB Compliance Supplement for {year} lists {area} among the requirements that are direct and material to {program}.",
      "Under the terms of the grant agreement, evidence on {area} is due within {n} days of the end of each quarter.",
      "2 CFR section 200.332 requires a pass-through entity to evaluate each subrecipient’s risk of noncompliance.",
      "Management is responsible for policies that give reasonable assurance that {area} is monitored throughout the award.",
    ],
  ],
  [
    "Condition",
    [
      "During our testing of {area} for {program}, we noted {n} of {m} items for which no evidence of review was kept.",
      "The {auditee} could not provide support for {n} of the {m} transactions selected, which total {dollars}.",
      "Reports for {number} were submitted between {n} and {m} days after their due date.",
      "The amounts reported on the schedule for {program} did not agree with the general ledger by {dollars}.",
      "In {n} instances the form titled “Request for Reimbursement” was signed by the person who had prepared it.",
      "The {auditee} did not verify that {n} vendors were not suspended or debarred before it entered into covered transactions.",
      "Payroll was charged to the award on the basis of budgeted percentages, and was not adjusted to actual effort.",
    ],
  ],
  [
    "Context",
    [
      "A sample of {m} items was selected for audit from a population of more than {m}00; the sample was not statistically valid.",
      "The sample included {n} items over {dollars}, each of which was tested individually.",
      "We extended our procedures to a further {n} months and found no other exceptions.",
      "Total expenditures of the program for the year were {dollars}.",
      "The exceptions occurred in {n} of the 12 months, mostly after the change of the accounting system.",
    ],
  ],
  [
    "Cause",
    [
      "The {auditee} experienced turnover in the position of {title}, and duties were not reassigned in time.",
      "Staff did not know that the requirement applied to awards received through a pass-through entity.",
      "Written procedures for {area} had not been updated since {prior}.",
      "The software in use does not keep a record of who approved an entry — approvals were given orally.",
      "Limited resources made a full segregation of duties impractical.",
    ],
  ],
  [
    "Effect or potential effect",
    [
      "Unallowable costs could be charged to {program} and not be detected in the normal course of business.",
      "Noncompliance with {area} may lead the grantor to disallow costs or to withhold future payments.",
      "The schedule was misstated by {dollars} before it was corrected.",
      "The grantor did not have timely information on the progress of the award.",
    ],
  ],
  [
    "Questioned costs",
    [
      "None.",
      "{dollars}, which is the total of the unsupported transactions of {number}.",
      "None above the reporting threshold of $25,000.",
    ],
  ],
  [
    "Recommendation",
    [
      "We recommend that the {auditee} put in place a documented second review of {area}.",
      "We recommend that the {title} reconcile the reports of {program} to the general ledger every month.",
      "We recommend training for all staff who approve costs of Federal awards, at least once a year.",
      "The {auditee} should keep a calendar of due dates and name one person who is responsible for each report.",
      'We recommend that exclusions in SAM be checked, and a "screen print" be kept, before a contract is signed.',
    ],
  ],
  [
    "Views of responsible officials",
    [
      "Management agrees with the finding. See the corrective action plan.",
      "There is no disagreement with the audit finding.",
      "Management agrees and has begun to revise its procedures for {area}.",
      "Management partly disagrees: the reviews were made, but the evidence was kept in “shared folders” that had been archived.",
    ],
  ],
];

export const PLAN_PHRASES: readonly string[] = [
  "The {auditee} agrees with the finding and will take the following steps.",
  "The {title} will review every drawdown of {program} before it is submitted, and will initial and date the request.",
  "A written procedure on {area} will be adopted by the governing body and given to all staff.",
  "Staff who work on {number} were trained in the requirements of the Uniform Guidance in {year}.",
  "A new accounting system that records approvals was installed after the end of the year.",
  "Monthly reconciliations will be presented to the finance committee — the first {n} have been completed.",
  "Costs of {dollars} were reclassified and the grantor has been notified.",
  "Time and effort will be certified every quarter by the employee’s supervisor.",
  "The corrective action is expected to be complete within {m} days.",
];

/** What only tribal auditees plan. */
export const TRIBAL_PLAN_PHRASES: readonly string[] = [
  "Accounting staff of the casino enterprise will help the Nation’s grants office to reconcile shared costs.",
  "Costs of the hotel and casino will be kept apart from those of {program} by separate account codes.",
];

export const POLICY_PHRASES: readonly string[] = [
  "The accompanying schedule of expenditures of federal awards includes the federal award activity of the {auditee} for the year {year}.",
  "Expenditures reported on the Schedule are reported on the modified accrual basis of accounting.",
  "Such expenditures are recognized following the cost principles contained in the Uniform Guidance, wherein certain types of expenditures are not allowable or are limited as to reimbursement.",
  "Because the Schedule presents only a selected portion of the operations of the {auditee}, it is not intended to and does not present its financial position, changes in net position, or cash flows.",
  "Negative amounts shown on the Schedule represent adjustments or credits made in the normal course of business to amounts reported as expenditures in prior years.",
  "Pass-through entity identifying numbers are presented where available.",
  "Awards of {program} are recognized when eligible costs are incurred and all requirements of the grantor have been met.",
  "The reporting entity is defined in Note 1 to the basic financial statements.",
];

/** [title, sentences]. */
export const NOTES: readonly (readonly [string, readonly string[]])[] = [
  ["BASIS OF PRESENTATION", POLICY_PHRASES],
  [
    "RELATIONSHIP TO THE FINANCIAL STATEMENTS",
    [
      "Federal award revenues are reported in the financial statements as intergovernmental revenue.",
      "Amounts in the Schedule agree in all material respects with the reports submitted to the grantors.",
      "The difference of {dollars} is due to the timing of reimbursements for {program}.",
    ],
  ],
  [
    "LOANS AND LOAN GUARANTEES",
    [
      "The balance of loans outstanding under {number} at the end of the year was {dollars}.",
      "No new loans were made during {year}; the balance at the beginning of the year is included in the Schedule.",
    ],
  ],
  [
    "SUBRECIPIENTS",
    [
      "Of the federal expenditures presented in the Schedule, {dollars} were provided to {n} subrecipients.",
      "The {auditee} did not provide federal awards to other subrecipients.",
    ],
  ],
  [
    "NONMONETARY ASSISTANCE",
    [
      "Food commodities are reported at the fair value of what was received and disbursed, {dollars}.",
      "The {auditee} received vaccines with a value of {dollars}, which were distributed by {n} clinics.",
    ],
  ],
  [
    "Indirect Cost Rate",
    [
      "The {auditee} elected a negotiated rate that is applied to {area} of {program}.",
      "A rate of 10% was used for {n} awards.",
    ],
  ],
];

export const AREAS: Readonly<Record<string, string>> = {
  A: "activities allowed or unallowed",
  B: "allowable costs and cost principles",
  C: "cash management",
  E: "eligibility",
  F: "equipment and real property management",
  G: "matching, level of effort and earmarking",
  H: "the period of performance",
  I: "procurement and suspension and debarment",
  J: "program income",
  L: "reporting",
  M: "subrecipient monitoring",
  N: "special tests and provisions",
  P: "other requirements",
};

export const SHORT_NAMES = {
  local: ["County", "City", "District", "Authority"],
  "non-profit": ["Organization", "Agency", "Corporation", "Center"],
  "higher-ed": ["University", "College", "Institution"],
  state: ["State", "Department"],
  tribal: ["Nation", "Tribe"],
  unknown: ["Entity"],
} as const;
