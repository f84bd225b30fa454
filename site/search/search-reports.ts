import { z } from "zod";
import type { LimitedQuery, Visitor } from "./limit-queries.ts";
import type { Reading } from "./read-search.ts";

/** The most rows on a page. */
export const pageRows = 100;
/** A larger total means "more than this". */
export const largestTotal = 1000;

const found = z.object({
  /** The number of audits that match each reading. */
  totals: z.array(z.number()),
  /** The reading that `rows` match: the first that has matches. */
  chosen: z.number().nullable(),
  rows: z.array(
    z.object({
      report_id: z.string(),
      auditee_name: z.string().nullable(),
      auditee_city: z.string().nullable(),
      auditee_state: z.string().nullable(),
      audit_year: z.string().nullable(),
      fy_end_date: z.string().nullable(),
      auditor_firm_name: z.string().nullable(),
      total_amount_expended: z.number().nullable(),
      /** Of the agency or program that the reading names. */
      amount_expended: z.number().nullable(),
    }),
  ),
});
const programs = z.array(
  z.object({ aln: z.string(), federal_program_name: z.string().nullable(), awards: z.number() }),
);
/** The results of publication.search_reports(), search_programs() and, if nothing was found, suggest_names(). */
export type Found = z.infer<typeof found> & { programs: z.infer<typeof programs>; names: string[] };

export type Search = (visitor: Visitor, readings: Reading[], page: number) => Promise<Found>;

/** Creates a function that searches the public audits for a client. It throws what `query` throws. */
export function createSearch(query: LimitedQuery): Search {
  return async (visitor, readings, page) => {
    const criteria = readings.map((reading) => reading.criteria);
    const words = criteria.find(({ name }) => name !== undefined)?.name;
    const answer = await query<{ found: unknown; programs: unknown; names: unknown }>(
      visitor,
      `select found, publication.search_programs($3) as programs,
         case when found ->> 'chosen' is null then publication.suggest_names($3) end as names
       from publication.search_reports($1, $2) as found`,
      [JSON.stringify(criteria), (page - 1) * pageRows, words],
    );
    return {
      ...found.parse(answer.found),
      programs: programs.parse(answer.programs ?? []),
      names: z.array(z.string()).parse(answer.names ?? []),
    };
  };
}
