import type { Pool } from "pg";
import { z } from "zod";
import { keepAnswer } from "./keep-answer.ts";

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

/** Reads the totals of some programs, which are up to 30 seconds old. Undefined if the database has never answered. */
export type ReadPrograms = (asked: AskedPrograms) => Promise<Programs | undefined>;

/** How many answers are kept: all years, sorted by each total, with some pages of each. */
const mostKept = 200;

export function createProgramsReader(pool: Pool, onError: (error: unknown) => void): ReadPrograms {
  /** The least recently used comes first. */
  const readers = new Map<string, () => Promise<Programs | undefined>>();
  const createReader = ({ year, sort, skipped, most }: AskedPrograms) => {
    const ask = async () => {
      const { rows } = await pool.query<{ found: unknown }>(
        "select publication.describe_programs($1, $2, $3, $4) as found",
        [year, sort, skipped, most],
      );
      return programs.parse(rows[0]?.found);
    };
    return keepAnswer(ask, () => 30_000, onError);
  };
  return (asked) => {
    const key = JSON.stringify(asked);
    const read = readers.get(key) ?? createReader(asked);
    readers.delete(key);
    readers.set(key, read);
    const [oldest = ""] = readers.keys();
    if (readers.size > mostKept) readers.delete(oldest);
    return read();
  };
}
