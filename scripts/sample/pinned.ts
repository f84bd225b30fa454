import { z } from "zod";
import { entityTypes } from "./model.ts";
import { readData } from "./read-data.ts";

const text = z.exactOptional(z.string());
const count = z.exactOptional(z.int().nonnegative());
const yes = z.exactOptional(z.literal(true));

const auditee = z.strictObject({
  entityType: z.exactOptional(z.enum(entityTypes)),
  name: text,
  uei: text,
  ein: text,
  city: text,
  state: text,
  zip: text,
  fiscalYearEndMonth: z.exactOptional(z.int().min(1).max(12)),
});

const pin = z.strictObject({
  auditee: z.exactOptional(auditee),
  /** First awards: number, direct or passed through. */
  awards: z.exactOptional(z.array(z.tuple([z.string(), z.enum(["Y", "N"])]))),
  awardCount: count,
  /** How many findings; finding n concerns the awards n and n + 1. */
  findings: count,
  /** How many submissions it supersedes. */
  history: count,
  /** Which of these and of itself are public, oldest first. The auditee of such chains is a Tribe: group 2. */
  isPublic: z.exactOptional(z.array(z.boolean())),
  /** Whether firm 0 audited it. */
  hasExampleAuditor: yes,
  hasMaterialWeakness: yes,
  hasManyAuditorsAndEins: yes,
  agenciesWithPriorFindings: text,
});

/** What is fixed about a submission, so that examples and tests can name it. */
export type Pin = z.infer<typeof pin>;

const group = z.strictObject({ auditee, lastYear: z.int() });

/** Auditees of later indexes, three years each: who, and the last of the years. */
export type PinnedGroup = z.infer<typeof group>;

const { exampleAuditorEin, submissions, groups } = readData(
  "pinned.json",
  z.strictObject({
    exampleAuditorEin: z.string(),
    /** By index. */
    submissions: z.record(z.string(), pin),
    groups: z.array(group),
  }),
);

/** Reports 2023-06-GSAFAC-0000000002 to …41 always exist, are public and current: indexes 0 to 39. */
export const PINNED_COUNT = 40;

/** The EIN of firm 0, and of the auditee of submission 0. */
export const EXAMPLE_EIN = exampleAuditorEin;

export function findPin(index: number): Pin | undefined {
  return submissions[index];
}

export function findPinnedGroup(group: number): PinnedGroup | undefined {
  return groups[group];
}
