import type { Agreement } from "./agreements.ts";
import { formatDetails, formatTable, formatTime } from "./print.ts";

export function formatAgreements(agreements: Agreement[]): string {
  if (agreements.length === 0) return "No agreements.";
  return formatTable(
    ["ID", "ORGANISATION", "STATUS", "REQUESTED", "DECIDED", "BY", "ACTIVE KEYS"],
    agreements.map((agreement) => [
      agreement.id,
      agreement.organisation,
      agreement.status,
      formatTime(agreement.requested_at),
      formatTime(agreement.decided_at),
      agreement.decided_by_name,
      agreement.active_keys,
    ]),
  );
}

export function formatAgreement(agreement: Agreement): string {
  const { decided_by_name: name, decided_by_agency: agency, decided_by_email: email } = agreement;
  return formatDetails({
    id: agreement.id,
    organisation: agreement.organisation,
    contact: agreement.contact_email,
    status: agreement.status,
    requested: formatTime(agreement.requested_at),
    decided: formatTime(agreement.decided_at),
    by: name === null ? null : `${name}, ${agency}, ${email}`,
    reason: agreement.reason,
    revoked: formatTime(agreement.revoked_at),
    "active keys": agreement.active_keys,
  });
}
