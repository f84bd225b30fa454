import { z } from "zod";
import { findingCounts, resultParts } from "./report.ts";
import type { LimitedQuery, Visitor } from "./search/limit-queries.ts";
import { type SimilarId, unknownIds } from "./similar-ids.ts";

const text = z.string().nullable();
/** A range of federal awards expended, in dollars. */
const size = z.object({ expended_from: z.number(), expended_to: z.number().nullable() });
const report = z.object({
  report_id: z.string(),
  audit_year: text,
  fy_end_date: text,
  fac_accepted_date: text,
  audit_period_covered: text,
  /** Its number within its chain of resubmissions. */
  resubmission_version: z.number(),
  auditee_name: text,
  auditee_uei: text,
  auditee_ein: text,
  auditee_city: text,
  auditee_state: text,
  entity_type: text,
  total_amount_expended: z.number().nullable(),
  auditor_firm_name: text,
  auditor_ein: text,
  counts: findingCounts,
  management_decision_due: text,
  ...resultParts,
  /** Null if the report states no amount of federal awards expended. */
  size: size.nullable(),
  /**
   * The findings of public reports of the same year by auditees of the same kind and size. If there are fewer than 20, by auditees of the same
   * kind, or else of the same size. Null if these are fewer than 20, too.
   */
  peers: z
    .object({
      /** Null for all kinds. */
      entity_type: text,
      /** Null for all sizes. */
      expended_from: size.shape.expended_from.nullable(),
      expended_to: size.shape.expended_to,
      submissions: z.number(),
      median: z.number(),
      /** How many reports have fewer findings. */
      fewer: z.number(),
      more: z.number(),
    })
    .nullable(),
  /** If `peers` is null: the newest year that has 20 or more reports of auditees of this kind and size. */
  newest_peers: z.object({ audit_year: z.string(), submissions: z.number(), median: z.number() }).nullable(),
});
/** The result of publication.describe_auditee(): reports, the newest first. */
const auditee = z.object({
  reports: z.array(report),
  /** Reports of other auditees that name the UEI or EIN as an additional one. */
  additional: z.array(
    z.object({ report_id: z.string(), audit_year: text, auditee_name: text, auditee_uei: text }),
  ),
});
export type Auditee = z.infer<typeof auditee>;
export type AuditeeReport = Auditee["reports"][number];

/** An auditee, or if no public report has its UEI or EIN, similar UEIs or EINs. */
interface FoundAuditee {
  found: Auditee | undefined;
  similar: SimilarId[];
}

/** Reads the public reports of the auditee with a UEI or EIN. */
export type ReadAuditee = (visitor: Visitor, id: string) => Promise<FoundAuditee>;

/** Creates a function that reads auditees for a client. It throws what `query` throws. */
export function createAuditeeReader(query: LimitedQuery): ReadAuditee {
  return async (visitor, id) => {
    const [{ found, unknown }] = await query<{ found: unknown; unknown: unknown }>(
      visitor,
      `select found, case when found is null then publication.suggest_ids(array[$1]) end as unknown
       from publication.describe_auditee($1) as found`,
      [id],
    );
    return {
      found: auditee.nullable().parse(found) ?? undefined,
      similar: unknownIds.parse(unknown ?? []).get(id) ?? [],
    };
  };
}
