import type { Auditee } from "./model.ts";

/** What is fixed about a submission, so that examples and tests can name it. */
export type Pin = {
  auditee?: Partial<Auditee>;
  /** First awards: number, direct or passed through. */
  awards?: readonly (readonly [number: string, isDirect: "Y" | "N"])[];
  awardCount?: number;
  /** How many findings; finding n concerns the awards n and n + 1. */
  findings?: number;
  /** How many submissions it supersedes. */
  history?: number;
  auditorEin?: string;
  hasMaterialWeakness?: boolean;
  hasManyAuditorsAndEins?: boolean;
  agenciesWithPriorFindings?: string;
};

/** Reports 2023-06-GSAFAC-0000000002 to …41 always exist, are public and current: indexes 0 to 39. */
export const PINNED_COUNT = 40;

export const EXAMPLE_EIN = "941234567";

const EXAMPLE_AUDITEE = {
  entityType: "local",
  name: "COUNTY OF SIERRA VISTA",
  uei: "ABCDEFGH1234",
  ein: EXAMPLE_EIN,
  city: "Los Robles",
  state: "CA",
  zip: "94501",
  fiscalYearEndMonth: 6,
} as const;

const PINS: Readonly<Record<number, Pin>> = {
  0: {
    auditee: EXAMPLE_AUDITEE,
    awards: [
      ["93.045", "N"],
      ["16.575", "N"],
      ["93.778", "Y"],
      ["14.218", "Y"],
      ["94.006", "Y"],
      ["10.766", "Y"],
    ],
    awardCount: 24,
    findings: 4,
    history: 1,
    hasMaterialWeakness: true,
    agenciesWithPriorFindings: "84,93",
  },
  1: {
    auditee: {
      entityType: "local",
      name: "CERRO GORDO COUNTY",
      city: "Mason City",
      state: "IA",
      zip: "50401",
    },
    awards: [
      ["93.045", "N"],
      ["93.045", "Y"],
      ["16.575", "N"],
    ],
    awardCount: 9,
    findings: 2,
  },
  2: { findings: 0, awardCount: 6, agenciesWithPriorFindings: "00" },
  3: {
    auditee: { entityType: "local", name: "MUNICIPIO DE AÑASCO", city: "Añasco", state: "PR", zip: "00610" },
    awards: [
      ["14.228", "N"],
      ["97.036", "N"],
      ["93.600", "Y"],
    ],
    awardCount: 12,
    findings: 3,
  },
  4: {
    auditee: {
      entityType: "local",
      name: "Town of Los Robles",
      city: "Los Robles",
      state: "CA",
      zip: "945201100",
    },
  },
  5: {
    auditee: {
      entityType: "local",
      name: "POLK COUNTY, IOWA",
      city: "Des Moines",
      state: "IA",
      zip: "50309",
    },
    awards: [
      ["93.563", "N"],
      ["20.205", "N"],
    ],
    awardCount: 31,
  },
  6: {
    auditee: {
      entityType: "higher-ed",
      name: "Prairie State University",
      city: "Peoria",
      state: "IL",
      zip: "61602",
    },
    awards: [
      ["93.855", "Y"],
      ["47.076", "Y"],
      ["84.063", "Y"],
      ["84.268", "Y"],
    ],
    awardCount: 160,
    findings: 1,
  },
  7: {
    auditee: {
      entityType: "non-profit",
      name: "Baylor County “New Start” Services, Inc.",
      state: "TX",
      city: "Waco",
      zip: "76701",
    },
    awards: [
      ["16.582", "Y"],
      ["93.569", "N"],
    ],
    awardCount: 5,
    findings: 1,
  },
  8: {
    auditee: { entityType: "tribal", name: "Blue Mesa Nation", city: "Gallup", state: "NM", zip: "87301" },
    awards: [
      ["15.022", "Y"],
      ["93.210", "Y"],
    ],
    awardCount: 14,
    findings: 2,
  },
  9: {
    auditee: {
      entityType: "state",
      name: "Oregon Department of Health and Human Services",
      state: "OR",
      city: "Salem",
      zip: "97301",
    },
    awards: [
      ["93.778", "Y"],
      ["93.558", "Y"],
      ["93.658", "Y"],
    ],
    awardCount: 90,
    findings: 6,
  },
  10: { auditorEin: EXAMPLE_EIN },
  11: {
    auditee: {
      entityType: "non-profit",
      name: "Redding Community Action Agency, Inc.",
      city: "Redding",
      state: "CA",
      zip: "96001",
    },
    awards: [
      ["93.569", "N"],
      ["16.582", "Y"],
      ["16.575", "N"],
    ],
    awardCount: 8,
    findings: 3,
    hasMaterialWeakness: true,
    auditorEin: EXAMPLE_EIN,
  },
  12: {
    awards: [
      ["94.006", "Y"],
      ["94.011", "Y"],
    ],
    awardCount: 4,
  },
  13: { hasManyAuditorsAndEins: true, awardCount: 40 },
  14: { history: 2, awards: [["93.778", "Y"]], findings: 1 },
};

/** Auditees of later indexes, three years each, by group: who, and the last of the years. */
const PINNED_GROUPS: Readonly<Record<number, { auditee: Partial<Auditee>; lastYear: number }>> = {
  0: { auditee: EXAMPLE_AUDITEE, lastYear: 2022 },
  1: {
    auditee: {
      entityType: "local",
      name: "City of Carlsbad Housing & Homeless Services",
      city: "Carlsbad",
      state: "CA",
      zip: "92008",
    },
    lastYear: 2024,
  },
};

export function findPin(index: number): Pin | undefined {
  return PINS[index];
}

export function findPinnedGroup(group: number): { auditee: Partial<Auditee>; lastYear: number } | undefined {
  return PINNED_GROUPS[group];
}
