import { composeAuditor, FIRM_COUNT } from "./auditors.ts";
import type { Award, Filing, Row } from "./model.ts";
import { composeEin, composeUei } from "./people.ts";
import { findPin } from "./pinned.ts";
import { EXTRA_COUNTS } from "./proportions.ts";
import { createRandom, invertQuantiles, type Random } from "./random.ts";
import { nameState, ORGANISATIONS } from "./vocabulary.ts";

/** Who passed each indirect award down: one row an award, two for a few. */
export function listPassthroughRows(filing: Filing, awards: readonly Award[]): Row[] {
  const random = createRandom(filing.seed, filing.index, "passthrough");
  const state = nameState(filing.auditee.state);
  return awards
    .filter((award) => award.is_direct === "N")
    .flatMap((award) =>
      Array.from({ length: random.chance(0.03) ? 2 : 1 }, () => ({
        award_reference: award.award_reference,
        passthrough_id: choosePassthroughId(random, filing),
        passthrough_name: random
          .pick(ORGANISATIONS.passthroughEntities)
          .replace("{STATE}", state.toUpperCase())
          .replace("{state}", state)
          .replace("{word}", random.pick(ORGANISATIONS.words)),
      })),
    );
}

export function listSecondaryAuditorRows(filing: Filing): Row[] {
  const random = createRandom(filing.seed, filing.index, "secondary auditors");
  const pinned = findPin(filing.index)?.hasManyAuditorsAndEins;
  const count = pinned
    ? 2
    : random.weigh([
        [0, 96],
        [1, 3.2],
        [2, 0.6],
        [4, 0.2],
      ]);
  return Array.from({ length: count }, () => {
    const auditor = composeAuditor(filing.seed, random.integer(1, FIRM_COUNT - 1));
    return {
      auditor_ein: auditor.ein,
      auditor_name: auditor.firm,
      contact_name: auditor.contact.name,
      contact_title: auditor.contact.title,
      contact_email: auditor.contact.email,
      contact_phone: auditor.contact.phone,
      address_street: auditor.address,
      address_city: auditor.city,
      address_state: auditor.state,
      address_zipcode: auditor.zip,
    };
  });
}

export function listAdditionalUeiRows(filing: Filing): Row[] {
  const random = createRandom(filing.seed, filing.index, "additional ueis");
  const count = countExtras(random, filing, 0.06);
  return Array.from({ length: count }, () => ({ additional_uei: composeUei(random) }));
}

export function listAdditionalEinRows(filing: Filing): Row[] {
  const random = createRandom(filing.seed, filing.index, "additional eins");
  const count = countExtras(random, filing, 0.07);
  return Array.from({ length: count }, () => ({ additional_ein: composeEin(random) }));
}

/** What became of the submission, for those of which it is recorded. */
export function listResubmissionRows({ resubmission }: Filing): Row[] {
  if (!resubmission) return [];
  return [
    {
      version: resubmission.version,
      status: resubmission.status,
      previous_report_id: resubmission.previousReportId,
      next_report_id: resubmission.nextReportId,
      original_submission_date: resubmission.originalSubmissionDate,
    },
  ];
}

function countExtras(random: Random, filing: Filing, share: number): number {
  if (findPin(filing.index)?.hasManyAuditorsAndEins) return 3;
  return random.chance(share) ? invertQuantiles(EXTRA_COUNTS, random.next()) : 0;
}

function choosePassthroughId(random: Random, filing: Filing): string {
  if (filing.isMigrated && random.chance(0.02)) return "GSA_MIGRATION";
  if (random.chance(0.15)) return random.pick(ORGANISATIONS.passthroughIds);
  if (random.chance(0.2)) return `${random.digits(2)}AA / ${random.digits(3)}B / ARP ${filing.auditYear}`;
  return `${random.pick(["AA-", "E", "G-", "SLFRP", "CFDA ", ""])}${random.digits(6)}`;
}
