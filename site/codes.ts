import { existsSync, readdirSync, readFileSync } from "node:fs";
import { z } from "zod";

const codes = z.object({
  /** The values that a column can have, by table and column. */
  values: z.record(z.string(), z.array(z.string())),
  /** What the codes in a column mean. */
  words: z.record(z.string(), z.record(z.string(), z.string())),
});
export type Codes = z.infer<typeof codes>;

const api = new URL("../db/api/", import.meta.url);
const { compare } = new Intl.Collator("en", { numeric: true });

/** Reads the codes of an API version, which are beside its views, and of the versions before it. */
export function readCodes(schema: string): Codes {
  const kind = schema.replace(/_v\d.*/, "");
  const read: Codes = { values: {}, words: {} };
  for (const folder of readdirSync(api).sort(compare)) {
    const file = new URL(`${folder}/codes.json`, api);
    if (!folder.startsWith(`${kind}_v`) || compare(folder, schema) > 0 || !existsSync(file)) continue;
    const { values, words } = codes.parse(JSON.parse(readFileSync(file, "utf8")));
    Object.assign(read.values, values);
    Object.assign(read.words, words);
  }
  return read;
}
