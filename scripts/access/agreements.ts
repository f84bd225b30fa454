import type { Ask } from "./with-access.ts";

/** A row of access.agreement_overview. Times are ISO 8601 in UTC. */
export interface Agreement {
  id: string;
  organisation: string;
  contact_email: string;
  status: "requested" | "approved" | "denied" | "revoked";
  requested_at: string;
  decided_at: string | null;
  decided_by_name: string | null;
  decided_by_agency: string | null;
  decided_by_email: string | null;
  reason: string | null;
  revoked_at: string | null;
  /** Keys that work under it. */
  active_keys: number;
}

export const agreementStatuses = ["requested", "approved", "denied", "revoked"] as const;

/** Who decided, and why. */
export interface Decision {
  decision: "approved" | "denied";
  /** Name of the federal official with Single Audit oversight. */
  official: string;
  agency: string;
  email: string;
  reason?: string | undefined;
}

/** Writes a request for Tribal access down. */
export async function requestAgreement(
  ask: Ask,
  { organisation, contact }: { organisation: string; contact: string },
): Promise<Agreement> {
  const [id = ""] = await ask<string>("select access.request_agreement($1, $2)", [organisation, contact]);
  return await findAgreement(ask, id);
}

/** Writes the decision on a request down. */
export async function decideAgreement(
  ask: Ask,
  reference: string,
  { decision, official, agency, email, reason }: Decision,
): Promise<Agreement> {
  await ask("select access.decide_agreement(access.resolve_agreement($1), $2, $3, $4, $5, $6)", [
    ...[reference, decision, official, agency, email],
    reason ?? null,
  ]);
  return await findAgreement(ask, reference);
}

/**
 * Revokes an agreement: its keys are refused from the next request.
 *
 * @returns the agreement, and how many keys worked until now
 */
export async function revokeAgreement(
  ask: Ask,
  reference: string,
): Promise<{ agreement: Agreement; refusedKeys: number }> {
  const before = await findAgreement(ask, reference);
  await ask("select access.revoke_agreement($1)", [before.id]);
  return { agreement: await findAgreement(ask, before.id), refusedKeys: before.active_keys };
}

/** All agreements that match, the newest first. */
export async function listAgreements(ask: Ask, { status }: { status?: string }): Promise<Agreement[]> {
  return await ask<Agreement>(
    `select to_jsonb(agreement) from access.agreement_overview as agreement
     where ($1::text is null or status = $1) order by requested_at desc, id`,
    [status ?? null],
  );
}

/** Finds an agreement by its ID or by the beginning of it. */
async function findAgreement(ask: Ask, reference: string): Promise<Agreement> {
  const [agreement] = await ask<Agreement>(
    "select to_jsonb(agreement) from access.agreement_overview as agreement where id = access.resolve_agreement($1)",
    [reference],
  );
  if (agreement === undefined) throw new Error("The database has answered without a row.");
  return agreement;
}
