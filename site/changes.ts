import type { Pool } from "pg";
import { z } from "zod";
import type { ChangesFilter } from "./changes-filter.ts";
import { keepAnswer } from "./keep-answer.ts";
import { findingCounts, resultParts } from "./report.ts";
import type { LimitedQuery, Visitor } from "./search/limit-queries.ts";
import { unknownIds } from "./similar-ids.ts";
import { type MissingIds, successors } from "./successors.ts";

/** The parts of a report that publication.changes tells apart. */
const changedParts = [
  "opinions",
  "findings",
  "texts",
  "awards",
  "amount",
  "notes",
  "auditor",
  "auditee",
  "other",
] as const;
export type ChangedPart = (typeof changedParts)[number];

const ofEachKind = <Value extends z.ZodType>(value: Value) =>
  z.object({ added: value, changed: value, removed: value });

/** The result of publication.describe_changes(): the kept records of changes, newest first. */
export const changes = z.array(
  z.object({
    /** Numbers publications and rollbacks chronologically. */
    number: z.number(),
    published_at: z.coerce.date(),
    data_set: z.string(),
    /** How many reports changed. */
    counts: ofEachKind(z.number()),
    /** The IDs of the first 100 of them. */
    first: ofEachKind(z.array(z.string())),
    /** The reports that are public now, by ID. */
    reports: z.record(
      z.string(),
      z.object({
        auditee_name: z.string().optional(),
        auditee_uei: z.string().optional(),
        audit_year: z.string().optional(),
        fy_end_date: z.string().optional(),
        ...findingCounts.shape,
        ...resultParts,
        /** The public report that this one replaces. */
        replaces: z.string().optional(),
        /** Which parts changed. */
        parts: z.array(z.enum(changedParts)).optional(),
        /** The old and new values of columns of general that people read. */
        values: z.record(z.string(), z.object({ old: z.string().nullable(), new: z.string().nullable() })),
      }),
    ),
    /** False if too many reports changed for a filter to look at them. */
    is_read: z.boolean().optional(),
  }),
);

export type Changes = z.infer<typeof changes>;
export type Change = Changes[number];
export type ChangedReport = Change["reports"][string];

export const kinds = ["added", "changed", "removed"] as const;
export type Kind = (typeof kinds)[number];

/**
 * Creates a function that reads the changes and keeps them for up to 30 seconds. It drops them after a publication, because they may name a
 * report that has been suppressed since.
 */
export function createChangesReader(
  pool: Pool,
  onError: (error: unknown) => void,
): (dataSet: string | undefined) => Promise<Changes | undefined> {
  const ask = async () => {
    const { rows } = await pool.query<{ found: unknown }>("select publication.describe_changes() as found");
    return changes.parse(rows[0]?.found);
  };
  const createReader = () => keepAnswer(ask, () => 30_000, onError, { id: undefined });
  let [read, readFor] = [createReader(), undefined as string | undefined];
  return (dataSet) => {
    if (dataSet !== readFor) [read, readFor] = [createReader(), dataSet];
    return read();
  };
}

/** Changes, and the IDs of the filter that no public report has. */
export interface FoundChanges {
  changes: Changes;
  missing: MissingIds;
}

export type ReadFilteredChanges = (visitor: Visitor, filter: ChangesFilter) => Promise<FoundChanges>;

/** Creates a function that reads the changes of some reports for a client. It throws what `query` throws. */
export function createFilteredChangesReader(query: LimitedQuery): ReadFilteredChanges {
  return async (visitor, { criteria }) => {
    const [{ found, unknown, replaced }] = await query<Record<"found" | "unknown" | "replaced", unknown>>(
      visitor,
      `select publication.list_changes($1) as found, publication.suggest_ids($2) as unknown,
         publication.list_successors($2) as replaced`,
      [JSON.stringify(criteria), criteria.ids ?? []],
    );
    return {
      changes: changes.parse(found),
      missing: { unknown: unknownIds.parse(unknown), replaced: successors.parse(replaced) },
    };
  };
}
