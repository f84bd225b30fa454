import { composeAwards } from "./awards.ts";
import { composeFilings } from "./filings.ts";
import { composeFindings, listFindingRows } from "./findings.ts";
import { composeGeneral } from "./general.ts";
import type { Filing, Submission } from "./model.ts";
import {
  listAdditionalEinRows,
  listAdditionalUeiRows,
  listPassthroughRows,
  listResubmissionRows,
  listSecondaryAuditorRows,
} from "./small-tables.ts";
import { listNoteRows, listTextRows } from "./texts.ts";

/**
 * Current submission `index` and those that it superseded, oldest first. They depend on nothing but the seed and
 * the index, so that a smaller sample is the beginning of a larger one.
 */
export function composeSubmissions(seed: number, index: number): Submission[] {
  return composeFilings(seed, index).map(composeSubmission);
}

function composeSubmission(filing: Filing): Submission {
  const awards = composeAwards(filing);
  const findings = composeFindings(filing, awards);
  for (const finding of findings) for (const award of finding.awards) award.findings_count += 1;
  const { texts, plans } = listTextRows(filing, findings);
  const ueis = listAdditionalUeiRows(filing);
  const eins = listAdditionalEinRows(filing);
  const auditors = listSecondaryAuditorRows(filing);
  const extras = { ueis: ueis.length, eins: eins.length, auditors: auditors.length };
  return {
    key: {
      report_id: filing.reportId,
      auditee_uei: filing.uei,
      audit_year: String(filing.auditYear),
      fac_accepted_date: filing.dates.accepted,
    },
    tables: {
      general: [composeGeneral(filing, awards, findings, extras)],
      federal_awards: awards,
      findings: listFindingRows(filing, findings),
      findings_text: texts,
      corrective_action_plans: plans,
      notes_to_sefa: listNoteRows(filing, awards),
      passthrough: listPassthroughRows(filing, awards),
      secondary_auditors: auditors,
      additional_ueis: ueis,
      additional_eins: eins,
      resubmission: listResubmissionRows(filing),
    },
  };
}
