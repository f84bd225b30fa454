import type { Award, Filing, Finding, Row } from "./model.ts";
import { composeFindingText, composePlan, composeText, type Subject, splitText } from "./narratives.ts";
import { NOTES, PHRASES } from "./phrases.ts";
import { NOTE_LENGTHS, POLICY_LENGTHS } from "./proportions.ts";
import { at, createRandom, invertQuantiles } from "./random.ts";

/** Rows of findings_text and corrective_action_plans, in the order of the findings. */
export function listTextRows(filing: Filing, findings: readonly Finding[]) {
  const texts: Row[] = [];
  const plans: Row[] = [];
  findings.forEach((finding, i) => {
    const random = createRandom(filing.seed, filing.index, "texts", i);
    const subject = { filing, award: at(finding.awards, 0), requirement: finding.requirement };
    const chart = filing.isMigrated && random.chance(0.5) ? "GSA_MIGRATION" : random.chance(0.04) ? "Y" : "N";
    const common = { finding_ref_number: finding.reference, contains_chart_or_table: chart };
    for (const finding_text of splitText(random, composeFindingText(random, subject))) {
      texts.push({ ...common, finding_text });
    }
    for (const planned_action of splitText(random, composePlan(random, subject))) {
      plans.push({ ...common, planned_action });
    }
  });
  return { texts, plans };
}

/** Rows of notes_to_sefa: the policies are repeated on each. A few migrated reports have none. */
export function listNoteRows(filing: Filing, awards: readonly Award[]): Row[] {
  const random = createRandom(filing.seed, filing.index, "notes");
  const subject: Subject = { filing, award: at(awards, 0), requirement: "AB" };
  const isTerse = filing.isMigrated && random.chance(0.3);
  if (isTerse && random.chance(0.2)) return [];
  const policies = composeText(
    random,
    PHRASES.policies,
    subject,
    invertQuantiles(POLICY_LENGTHS, random.next()),
  );
  const rate = random.weigh([
    ["N", 62],
    ["Y", 34],
    ["Both", 4],
  ]);
  const isUnknown = filing.isMigrated && random.chance(0.15);
  const count = isTerse
    ? 1
    : random.weigh([
        [1, 40],
        [2, 30],
        [3, 18],
        [4, 12],
      ]);
  const first = random.integer(0, NOTES.length - 1);
  return Array.from({ length: count }, (_, i) => {
    const { title, phrases } = at(NOTES, (first + i) % NOTES.length);
    return {
      title: isTerse ? "" : title,
      accounting_policies: policies,
      is_minimis_rate_used: isUnknown ? "GSA_MIGRATION" : rate,
      rate_explained: isUnknown ? "GSA_MIGRATION" : explainRate(rate),
      content: isTerse
        ? ""
        : composeText(random, phrases, subject, invertQuantiles(NOTE_LENGTHS, random.next())),
      contains_chart_or_table: isTerse
        ? ""
        : filing.isMigrated
          ? "GSA_MIGRATION"
          : random.chance(0.03)
            ? "Y"
            : "N",
    };
  });
}

function explainRate(rate: string): string {
  if (rate === "Both")
    return "Some awards use the 10% de minimis rate; others a rate negotiated with the cognizant agency.";
  return `The auditee ${rate === "Y" ? "used" : "did not use"} the de minimis cost rate.`;
}
