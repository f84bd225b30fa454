import { composeAwards } from "./awards.ts";
import { composeFilings } from "./filings.ts";
import { composeFindings, listFindingRows } from "./findings.ts";
import { composeGeneral } from "./general.ts";
import type { Filing, Key, Tables } from "./model.ts";
import {
  listAdditionalEinRows,
  listAdditionalUeiRows,
  listPassthroughRows,
  listResubmissionRows,
  listSecondaryAuditorRows,
} from "./small-tables.ts";
import { listNoteRows, listTextRows } from "./texts.ts";

/**
 * The rows of current submission `index` and of those that it superseded, oldest first. They depend on nothing
 * but the seed and the index, so that a smaller sample is the beginning of a larger one.
 */
export function composeSubmissions(seed: number, index: number): Tables[] {
  return composeFilings(seed, index).map(composeTables);
}

function composeTables(filing: Filing): Tables {
  const key: Key = {
    report_id: filing.reportId,
    auditee_uei: filing.uei,
    audit_year: String(filing.auditYear),
    fac_accepted_date: filing.dates.accepted,
  };
  const awards = composeAwards(filing);
  const findings = composeFindings(filing, awards);
  for (const finding of findings) for (const award of finding.awards) award.findings_count += 1;
  const { texts, plans } = listTextRows(filing, key, findings);
  const ueis = listAdditionalUeiRows(filing, key);
  const eins = listAdditionalEinRows(filing, key);
  const auditors = listSecondaryAuditorRows(filing, key);
  const extras = { ueis: ueis.length, eins: eins.length, auditors: auditors.length };
  return {
    general: [composeGeneral(filing, key, awards, findings, extras)],
    federal_awards: awards.map((award) => ({ ...key, ...award })),
    findings: listFindingRows(filing, key, findings),
    findings_text: texts,
    corrective_action_plans: plans,
    notes_to_sefa: listNoteRows(filing, key, awards),
    passthrough: listPassthroughRows(filing, key, awards),
    secondary_auditors: auditors,
    additional_ueis: ueis,
    additional_eins: eins,
    resubmission: listResubmissionRows(filing, key),
  };
}
