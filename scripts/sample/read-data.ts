import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { z } from "zod";

/**
 * Reads a file of `data/`, JSON or CSV with a header, as the schema has it.
 *
 * @throws Error that names the file, when it is not there or not as the schema has it
 */
export function readData<T>(file: string, schema: z.ZodType<T>): T {
  try {
    const text = readFileSync(new URL(`data/${file}`, import.meta.url), "utf8");
    return schema.parse(file.endsWith(".csv") ? parse(text, { columns: true }) : JSON.parse(text));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new Error(`scripts/sample/data/${file}: ${why}`, { cause });
  }
}

/** Something to choose from. */
export const choices = z.array(z.string()).min(1).readonly();
