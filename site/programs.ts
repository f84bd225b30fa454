import type { Pool } from "pg";
import { z } from "zod";

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

/** Reads the totals of some programs. Undefined if the query fails, or the data set has no such totals. */
export type ReadPrograms = (asked: AskedPrograms) => Promise<Programs | undefined>;

export function createProgramsReader(pool: Pool, onError: (error: unknown) => void): ReadPrograms {
  return async ({ year, sort, skipped, most }) => {
    try {
      const { rows } = await pool.query<{ found: unknown }>(
        "select publication.describe_programs($1, $2, $3, $4) as found",
        [year, sort, skipped, most],
      );
      return programs.nullable().parse(rows[0]?.found) ?? undefined;
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
}
