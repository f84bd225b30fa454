import { z } from "zod";
import { choices, readData } from "./read-data.ts";

const section = z.object({ title: z.string(), phrases: choices });

const phrases = z.object({
  /** Sections of a finding, in order. */
  finding: z.array(section),
  plan: choices,
  /** What only tribal auditees plan. */
  tribalPlan: choices,
  policies: choices,
  /** Notes after the first, which repeats the policies. */
  notes: z.array(section),
  /** Names of the compliance requirements by letter, for {area}. */
  requirements: z.record(z.string().length(1), z.string()),
});

/**
 * Sentences of audit narratives. Filled in: {auditee} a short word for it, {program}, {number}, {n} a small count,
 * {m} a larger one, {dollars}, {year}, {prior}, {area}, {title}.
 */
export const PHRASES = readData("phrases.json", phrases);

export const NOTES = [{ title: "BASIS OF PRESENTATION", phrases: PHRASES.policies }, ...PHRASES.notes];
