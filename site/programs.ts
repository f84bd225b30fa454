import type { Pool } from "pg";
import { z } from "zod";
import { keepAnswer, type LiveDataSet } from "./keep-answer.ts";

/** The result of publication.describe_programs(): how many programs there are, and the totals of some of them. */
const programs = z.object({
  count: z.number(),
  programs: z.array(
    z.object({
      /** Null for all awards whose Assistance Listing number lacks a part. */
      aln: z.string().nullable(),
      federal_program_name: z.string().nullable(),
      awards: z.number(),
      amount_expended: z.number(),
      findings: z.number(),
      material_weaknesses: z.number(),
    }),
  ),
});
export type Programs = z.infer<typeof programs>;

/** Which programs a page shows. */
export interface AskedPrograms {
  /** Undefined for all years. */
  year: string | undefined;
  /** The total by which they are sorted. With any other text, they are sorted by their number. */
  sort: string;
  skipped: number;
  most: number;
}

/** The result of publication.describe_program_years(): the programs with the most findings, and their findings of each year. */
export const programYears = z.object({
  /** The newest first. */
  years: z.array(z.string()),
  count: z.number(),
  programs: z.array(
    z.object({
      aln: z.string(),
      federal_program_name: z.string().nullable(),
      /** In all of these years. */
      findings: z.number(),
      by_year: z.record(z.string(), z.number()),
    }),
  ),
});
export type ProgramYears = z.infer<typeof programYears>;

/** Which programs a page shows with their findings of each year. */
export interface AskedProgramYears {
  /** Undefined for all agencies. */
  agency: string | undefined;
  /** The year by which they are sorted. Undefined for all years together. */
  sort: string | undefined;
  skipped: number;
  most: number;
}

/**
 * Creates a function that reads the totals of some programs, which are up to 30 seconds old, but not older than the live data set. Undefined
 * if the database has never answered.
 */
export const createProgramsReader = (pool: Pool, onError: (error: unknown) => void, live: LiveDataSet) =>
  keepAnswers(
    async ({ year, sort, skipped, most }: AskedPrograms) => {
      const { rows } = await pool.query<{ found: unknown }>(
        "select publication.describe_programs($1, $2, $3, $4) as found",
        [year, sort, skipped, most],
      );
      return programs.parse(rows[0]?.found);
    },
    onError,
    live,
  );
export type ReadPrograms = ReturnType<typeof createProgramsReader>;

/** The same for programs with their findings of each year. */
export const createProgramYearsReader = (pool: Pool, onError: (error: unknown) => void, live: LiveDataSet) =>
  keepAnswers(
    async ({ agency, sort, skipped, most }: AskedProgramYears) => {
      const { rows } = await pool.query<{ found: unknown }>(
        "select publication.describe_program_years($1, $2, $3, $4) as found",
        [agency, sort, skipped, most],
      );
      return programYears.parse(rows[0]?.found);
    },
    onError,
    live,
  );
export type ReadProgramYears = ReturnType<typeof createProgramYearsReader>;

/** How many answers are kept: all years, sorted by each total, with some pages of each. */
const mostKept = 200;

/** Keeps the answers to the questions that were asked last. */
function keepAnswers<Asked, Answer>(
  ask: (asked: Asked) => Promise<Answer>,
  onError: (error: unknown) => void,
  live: LiveDataSet,
) {
  /** The least recently used comes first. */
  const readers = new Map<string, () => Promise<Answer | undefined>>();
  return (asked: Asked): Promise<Answer | undefined> => {
    const key = JSON.stringify(asked);
    const read =
      readers.get(key) ??
      keepAnswer(
        () => ask(asked),
        () => 30_000,
        onError,
        live,
      );
    readers.delete(key);
    readers.set(key, read);
    const [oldest = ""] = readers.keys();
    if (readers.size > mostKept) readers.delete(oldest);
    return read();
  };
}
