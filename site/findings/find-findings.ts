import { z } from "zod";
import { findEverydayProgram } from "../names.ts";
import { programYears } from "../programs.ts";
import { earlierFindings } from "../report.ts";
import type { LimitedQuery, Visitor } from "../search/limit-queries.ts";
import { unknownIds } from "../similar-ids.ts";
import { successors } from "../successors.ts";
import type { FindingCriteria } from "./read-criteria.ts";

/** The rows on a page, as in publication.search_findings(). */
export const findingsOnPage = 20;
/** A larger total means "more than this". */
export const mostCounted = 10_000;
/** How many findings are searched for phrases, as in publication.search_findings(). */
export const mostWithPhrases = 3000;
/** The most rows in a CSV file, as in publication.export_findings(). */
export const mostInFile = 5000;
/** The most rows in a CSV file with texts. */
export const mostWithTexts = 500;

const text = z.string().nullable();
/** The result of publication.list_related_programs(). */
export const relatedPrograms = z.array(z.object({ aln: z.string(), findings: z.number() }));
export type RelatedPrograms = z.infer<typeof relatedPrograms>;
/** The result of publication.search_programs() and name_programs(). */
export const namedPrograms = z.array(
  z.object({ aln: z.string(), federal_program_name: text, awards: z.number() }),
);
export type NamedPrograms = z.infer<typeof namedPrograms>;
/** The results of publication.search_programs() and, if it finds none, suggest_programs(). */
const programChoice = z.object({ programs: namedPrograms, similar: namedPrograms });
/** A word or a phrase that was searched for. */
const wordsPart = z.object({
  /** The word and words that auditors use for it, or a phrase. */
  forms: z.array(z.string()),
  is_excluded: z.boolean(),
  /** The phrase as a regular expression. */
  pattern: z.string().optional(),
});
export type WordsPart = z.infer<typeof wordsPart>;

const found = z.object({
  total: z.number(),
  /** Whether the words that were searched for are all too common to be found. */
  lacks_words: z.boolean().optional(),
  /** How the words were read: alternatives, of which a text matches one. */
  words: z.array(z.array(wordsPart)).nullish(),
  /** The names of the auditee and the auditor that are searched for, in their newest public reports. */
  names: z.object({ auditee: z.string().optional(), auditor: z.string().optional() }).optional(),
  /** Whether the search is of one auditee or report: then texts are whole as far as there is room. */
  is_of_one: z.boolean().optional(),
  /** Whether more findings have all words than were searched for phrases. */
  is_cut: z.boolean().optional(),
  /** The IDs of the filters `auditee` and `u` that no public report has. */
  unknown: unknownIds.optional(),
  /** The reports among these that a public report replaced. */
  replaced: successors.nullish(),
  related: relatedPrograms.nullish(),
  /** The numbers that are counted together, if a program is searched for with its letter codes. */
  numbers: relatedPrograms.nullish(),
  /** How many of the findings that were counted have a value of a filter. */
  counts: z.array(z.object({ name: z.string(), value: z.string(), findings: z.number() })),
  rows: z.array(
    z.looseObject({
      report_id: z.string(),
      reference_number: text,
      auditee_name: text,
      auditee_city: text,
      auditee_state: text,
      audit_year: text,
      fac_accepted_date: text,
      alns: z.array(z.string()),
      /** The programs that were searched for, if their awards match the search. */
      asked_alns: z.array(z.string()),
      /** A date. Null if the report has no accepted date. */
      management_decision_due: text,
      type_requirement: text,
      is_direct: text,
      /** Excerpts. U+0001 and U+0002 are around each word that was searched for. */
      text,
      plan: text,
      prior_finding_ref_numbers: text,
      /** How many findings are before it in its report. */
      place: z.number(),
      /** Null if it repeats none. */
      earlier: earlierFindings.nullable(),
    }),
  ),
});
export type FoundFindings = z.infer<typeof found>;

/** The results of publication.list_named_ids() and suggest_names(). */
export const namedIds = z.object({
  total: z.number(),
  /** Whether more reports have the name than were read. */
  is_cut: z.boolean(),
  ids: z.array(z.object({ id: z.string(), name: text, city: text, state: text, reports: z.number() })),
  /** Similar names, if no report has the name. */
  similar: z.array(z.string()),
});
export type NamedIds = z.infer<typeof namedIds>;

const count = z.number();
const group = z.object({
  /** The most frequent name of a program. */
  name: text,
  related: relatedPrograms.nullable(),
  years: z.array(
    z.object({
      audit_year: z.string(),
      /** Null for a program. */
      submissions: count.nullable(),
      awards: count,
      amount_expended: count,
      findings: count,
      material_weaknesses: count,
    }),
  ),
  /** The programs of an agency with the most findings. */
  programs: programYears.nullable(),
  requirements: z.array(z.object({ letter: z.string(), findings: count })),
  /** How many findings name no requirement. */
  without_requirement: count,
  states: z.array(
    z.object({
      auditee_state: z.string(),
      /** Null for an agency. */
      amount_expended: count.nullable(),
      findings: count,
    }),
  ),
  auditees: z.array(
    z.object({
      auditee_uei: z.string(),
      auditee_name: text,
      auditee_city: text,
      auditee_state: text,
      findings: count,
      material_weaknesses: count,
      repeat_findings: count,
      newest: text,
    }),
  ),
});
/** What public reports say of a program, an agency or a state. */
export type FindingsOfGroup = z.infer<typeof group>;

const listed = z.array(
  z.looseObject({
    report_id: z.string(),
    reference_number: text,
    /** How many findings are before it in its report. */
    place: z.number(),
  }),
);

const listNamedIds = `(
  select named || jsonb_build_object('similar', case when named ->> 'total' = '0'
    then publication.suggest_names($2, coalesce($3, ''), $1) else '[]' end)
  from publication.list_named_ids($1, $2, $3) as named)`;
const listPrograms = `(
  select jsonb_build_object('programs', programs, 'similar', case when programs = '[]'
    then publication.suggest_programs($1) else '[]' end)
  from (select case when $2::text[] = '{}' then publication.search_programs($1) else publication.name_programs($2) end) as found (programs))`;

/** Creates functions that search the public findings for a client. They throw what `query` throws. */
export function createFindingsReader(query: LimitedQuery) {
  const ask = async (visitor: Visitor, statement: string, ...values: unknown[]) => {
    const [{ found }] = await query<{ found: unknown }>(visitor, `select ${statement} as found`, values);
    return found;
  };
  return {
    search: async (visitor: Visitor, criteria: FindingCriteria, page: number) => {
      const skipped = (page - 1) * findingsOnPage;
      return found.parse(await ask(visitor, "publication.search_findings($1, $2)", criteria, skipped));
    },
    /** Finds the IDs of auditees or auditors that have a name, or else similar names. */
    listNamedIds: async (visitor: Visitor, kind: "auditee" | "auditor", name: string, state?: string) =>
      namedIds.parse(await ask(visitor, listNamedIds, kind, name, state)),
    /** Finds the programs with an official or everyday name, those with the most awards first, or else those with similar names. */
    listPrograms: async (visitor: Visitor, name: string) =>
      programChoice.parse(await ask(visitor, listPrograms, name, findEverydayProgram(name)?.alns ?? [])),
    list: async (visitor: Visitor, criteria: FindingCriteria & { texts?: "Y" }) =>
      listed.parse(await ask(visitor, "publication.export_findings($1)", criteria)),
    describe: async (visitor: Visitor, criteria: FindingCriteria) =>
      group.parse(await ask(visitor, "publication.describe_findings($1)", criteria)),
  };
}
export type FindingsReader = ReturnType<typeof createFindingsReader>;
