import { z } from "zod";
import {
  type NamedPrograms,
  namedIds,
  namedPrograms,
  type RelatedPrograms,
  relatedPrograms,
} from "../findings/find-findings.ts";
import { findingCounts, resultParts } from "../report.ts";
import { type SimilarId, unknownIds } from "../similar-ids.ts";
import { type Successor, successors } from "../successors.ts";
import type { LimitedQuery, Visitor } from "./limit-queries.ts";
import { findNamed, type Reading } from "./read-search.ts";

/** The most rows on a page. */
export const pageRows = 100;
/** A larger total means "more than this". */
export const largestTotal = 1000;

const auditors = namedIds.omit({ similar: true });
const found = z.object({
  /** The number of reports that match each reading. 0 if an earlier reading has the same reports. */
  totals: z.array(z.number()),
  /** The reading that `rows` match: the first that has matches. */
  chosen: z.number().nullable(),
  rows: z.array(
    z.object({
      report_id: z.string(),
      auditee_name: z.string().nullable(),
      auditee_uei: z.string().nullable(),
      auditee_ein: z.string().nullable(),
      auditee_city: z.string().nullable(),
      auditee_state: z.string().nullable(),
      audit_year: z.string().nullable(),
      fy_end_date: z.string().nullable(),
      auditor_firm_name: z.string().nullable(),
      auditor_ein: z.string().nullable(),
      total_amount_expended: z.number().nullable(),
      fac_accepted_date: z.string().nullable(),
      ...resultParts,
      ...findingCounts.shape,
      /** Of the agency or program that the reading names. Null if it names none. */
      findings_on_program: z.number().nullable(),
      amount_expended: z.number().nullable(),
    }),
  ),
});
/** The results of publication.search_reports(), search_programs(), list_related_programs() and, if nothing was found, suggest_names(), suggest_programs() and suggest_ids(). */
export type Found = z.infer<typeof found> & {
  programs: NamedPrograms;
  /** Programs with similar names, if none has the words. */
  similarPrograms: NamedPrograms;
  names: string[];
  /** UEIs or EINs that are similar to the one that was searched for. */
  similar: SimilarId[];
  /** The other numbers of the program that the first reading names. */
  related: RelatedPrograms;
  /** The auditors with the name, if the reading that was chosen is of one. */
  auditors: z.infer<typeof auditors> | undefined;
  /** How many findings have the words in their texts. */
  findings: number;
  /** The report that replaced the one whose ID the first reading has. */
  successor: Successor | undefined;
};

/** Searches for readings of a text. */
export type Search = (visitor: Visitor, text: string, readings: Reading[], page: number) => Promise<Found>;

/** Creates a function that searches the public reports for a client. It throws what `query` throws. */
export function createSearch(query: LimitedQuery): Search {
  return async (visitor, text, readings, page) => {
    const criteria = readings.map((reading) => reading.criteria);
    const { name: words, state } = findNamed(readings)?.criteria ?? {};
    const [{ agency, program, report_ids: ids, uei, ein } = {}] = criteria;
    const [answer] = await query<{
      found: unknown;
      programs: unknown;
      similar_programs: unknown;
      names: unknown;
      unknown: unknown;
      related: unknown;
      auditors: unknown;
      findings: number | null;
      replaced: unknown;
    }>(
      visitor,
      `select found, programs,
         case when found ->> 'chosen' is null and programs = '[]' then publication.suggest_programs($3) end as similar_programs,
         case when found ->> 'chosen' is null then publication.suggest_names($3, $8) end as names,
         case when found ->> 'chosen' is null then publication.suggest_ids($7) end as unknown,
         publication.list_related_programs($5) as related,
         case when named.auditor is not null then publication.list_named_ids('auditor', named.auditor) end as auditors,
         publication.count_findings_with($4) as findings,
         publication.list_successors($6) as replaced
       from publication.search_reports($1, $2) as found, publication.search_programs($3) as programs,
         lateral (select $1::jsonb -> (found ->> 'chosen')::integer ->> 'auditor') as named (auditor)`,
      [
        JSON.stringify(criteria),
        (page - 1) * pageRows,
        words,
        words && text,
        program && `${agency}.${program}`,
        ids,
        [uei ?? ein ?? (words ?? text).replace("-", "").toUpperCase()],
        state ?? "",
      ],
    );
    return {
      ...found.parse(answer.found),
      programs: namedPrograms.parse(answer.programs ?? []),
      similarPrograms: namedPrograms.parse(answer.similar_programs ?? []),
      names: z.array(z.string()).parse(answer.names ?? []),
      similar: [...unknownIds.parse(answer.unknown ?? []).values()].flat(),
      related: relatedPrograms.parse(answer.related ?? []),
      auditors: auditors.optional().parse(answer.auditors ?? undefined),
      findings: answer.findings ?? 0,
      successor: successors.parse(answer.replaced ?? [])[0],
    };
  };
}
