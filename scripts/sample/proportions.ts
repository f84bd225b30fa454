import type { EntityType } from "./model.ts";
import type { Quantiles } from "./random.ts";

// The proportions of the sample, after those of the real data: how many, how large, how often. How often a state is
// chosen stands in data/places.csv. Pairs are a value and its weight, or a quantile and the value there (Quantiles).

/** One group of submissions in so many is tribal: 1.6 % (4,728 of 6,774 of theirs are suppressed). */
export const TRIBAL_EVERY = 61;

/** Kinds of the other auditees: upper ends of their shares. */
export const ENTITY_TYPES: readonly (readonly [number, EntityType])[] = [
  [0.447, "local"],
  [0.833, "non-profit"],
  [0.965, "higher-ed"],
  [0.996, "state"],
  [1, "unknown"],
];

/** Days from the end of the fiscal year to acceptance. Nine months are allowed. */
export const DAYS_TO_ACCEPTANCE: Quantiles = [
  [0, 75],
  [0.1, 150],
  [0.5, 262],
  [0.9, 290],
  [0.97, 400],
  [1, 640],
];

/** Months in which fiscal years end, 1 to 12. */
export const FISCAL_YEAR_ENDS = [
  [6, 77],
  [12, 11],
  [9, 6],
  [3, 2],
  [8, 2],
  [4, 1],
  [5, 1],
] as const;

/** The last of the audit years of an auditee. */
export const LAST_YEARS = [
  [2018, 1],
  [2019, 1],
  [2020, 1],
  [2021, 1],
  [2022, 1.2],
  [2023, 1.6],
  [2024, 4],
] as const;

/** How many submissions a current one supersedes. */
export const SUPERSEDED_COUNTS = [
  [0, 0.965],
  [1, 0.025],
  [2, 0.01],
] as const;

/** Awards a report over all kinds of auditees: median 6, 95th percentile about 51, the longest 16,292. */
export const AWARD_COUNTS: Quantiles = [
  [0, 1],
  [0.12, 2],
  [0.5, 6],
  [0.75, 13],
  [0.9, 26],
  [0.95, 45],
  [0.99, 140],
  [0.999, 420],
  [0.9999, 1_400],
  [1, 16_293],
];

/** Kinds that have more awards than others are nearer to the largest: what is left of the distance. */
export const AWARD_DISTANCES: Readonly<Record<EntityType, number>> = {
  local: 1,
  "non-profit": 1,
  unknown: 1,
  tribal: 0.6,
  "higher-ed": 0.6,
  state: 0.36,
};

/** Dollars: p10 4,000, median 131,000, p90 5,000,000, p99 197,000,000. */
export const AWARD_AMOUNTS: Quantiles = [
  [0, 50],
  [0.1, 4_000],
  [0.2, 14_000],
  [0.3, 35_000],
  [0.4, 70_000],
  [0.5, 131_000],
  [0.6, 290_000],
  [0.7, 700_000],
  [0.8, 1_700_000],
  [0.9, 5_000_000],
  [0.95, 20_000_000],
  [0.99, 197_000_000],
  [0.999, 900_000_000],
  [1, 4_000_000_000],
];

/** How often an agency's programs appear, by prefix. */
export const AGENCY_WEIGHTS: readonly (readonly [string, number])[] = [
  ["93", 30],
  ["84", 22],
  ["10", 11],
  ["14", 7],
  ["21", 5],
  ["20", 4],
  ["16", 3],
  ["97", 3],
  ["17", 3],
  ["15", 1.8],
  ["12", 1.6],
  ["66", 1.5],
  ["47", 1.5],
  ["11", 1],
  ["81", 0.9],
  ["94", 0.9],
  ["45", 0.6],
  ["43", 0.5],
  ["19", 0.4],
  ["98", 0.4],
  ["64", 0.3],
  ["32", 0.3],
  ["59", 0.3],
];

/** Agencies that pay for research, by prefix. */
export const RESEARCH_WEIGHTS: readonly (readonly [string, number])[] = [
  ["93", 50],
  ["47", 20],
  ["12", 8],
  ["84", 6],
  ["81", 5],
  ["10", 5],
  ["43", 3],
  ["11", 2],
  ["66", 1],
];

/** Shares of the reports that have findings. */
export const SHARES_WITH_FINDINGS: Readonly<Record<EntityType, number>> = {
  local: 0.2,
  "non-profit": 0.16,
  "higher-ed": 0.24,
  state: 0.7,
  tribal: 0.45,
  unknown: 0.2,
};

/** Distinct findings of a report that has some: median 1, mean 2.2, p95 5, the most 93. */
export const FINDING_COUNTS: Quantiles = [
  [0, 1],
  [0.58, 2],
  [0.78, 3],
  [0.95, 6],
  [0.99, 14],
  [0.999, 40],
  [1, 94],
];

/** Awards that a finding concerns; rows are findings times awards. */
export const AWARDS_PER_FINDING: Quantiles = [
  [0, 1],
  [0.5, 2],
  [0.72, 4],
  [0.88, 8],
  [0.97, 24],
  [0.995, 120],
  [1, 900],
];

/** Compliance requirements of a finding, by letter. */
export const REQUIREMENTS = [
  ["F", 25],
  ["AB", 18],
  ["P", 12],
  ["B", 9],
  ["L", 12],
  ["C", 8],
  ["N", 8],
  ["E", 8],
  ["I", 6],
  ["M", 5],
  ["H", 3],
  ["G", 3],
  ["J", 2],
  ["BE", 3],
  ["IL", 3],
  ["ABC", 2],
  ["ABCEFGHIJLMNP", 0.4],
  ["ABEGLMN", 1],
] as const;

/** UEIs or EINs beyond the first, of those that have any. */
export const EXTRA_COUNTS: Quantiles = [
  [0, 1],
  [0.5, 2],
  [0.9, 8],
  [0.99, 40],
  [1, 120],
];

// Lengths of texts, in characters.

export const FINDING_LENGTHS: Quantiles = [
  [0, 500],
  [0.5, 1_900],
  [0.75, 3_600],
  [0.95, 8_300],
  [0.995, 20_000],
  [1, 31_500],
];

export const PLAN_LENGTHS: Quantiles = [
  [0, 60],
  [0.5, 420],
  [0.9, 1_200],
  [0.99, 4_000],
  [1, 21_500],
];

export const POLICY_LENGTHS: Quantiles = [
  [0, 120],
  [0.5, 500],
  [0.95, 1_600],
  [0.999, 4_000],
  [1, 30_000],
];

export const NOTE_LENGTHS: Quantiles = [
  [0, 60],
  [0.5, 360],
  [0.95, 1_100],
  [0.999, 4_000],
  [1, 18_500],
];
