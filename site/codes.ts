import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const codes = z.object({
  /** The values that a column can have, by table and column. */
  values: z.record(z.string(), z.array(z.string())),
  /** What the letters of a column's values mean. */
  words: z.record(z.string(), z.record(z.string(), z.string())),
});
export type Codes = z.infer<typeof codes>;

/** Reads the codes of an API version, which are beside its views. A version whose files are not here has none. */
export function readCodes(schema: string): Codes {
  const file = new URL(`../db/api/${schema}/codes.json`, import.meta.url);
  if (!existsSync(file)) return { values: {}, words: {} };
  return codes.parse(JSON.parse(readFileSync(file, "utf8")));
}
