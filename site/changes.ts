import type { Pool } from "pg";
import { z } from "zod";
import { keepAnswer } from "./keep-answer.ts";

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
  }),
);

export type Changes = z.infer<typeof changes>;
export type Change = Changes[number];

export const kinds = ["added", "changed", "removed"] as const;
export type Kind = (typeof kinds)[number];

/** Creates a function that reads the changes, which are up to 30 seconds old. */
export function createChangesReader(
  pool: Pool,
  onError: (error: unknown) => void,
): () => Promise<Changes | undefined> {
  const ask = async () => {
    const { rows } = await pool.query<{ found: unknown }>("select publication.describe_changes() as found");
    return changes.parse(rows[0]?.found);
  };
  return keepAnswer(ask, () => 30_000, onError);
}
