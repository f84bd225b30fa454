import type { Client } from "pg";

/** Knows what may be read by nobody, or by Tribal keys alone, and finds it in text. */
export interface LeakWatch {
  /** Adds a key, a token or a password. */
  addSecret: (secret: string) => void;
  /** What a text holds of secrets. */
  findSecrets: (text: string) => string[];
  /** What a text holds of suppressed values. */
  findSuppressed: (text: string) => string[];
  counts: () => { secrets: number; suppressed: number };
}

/** Keys, tokens, UEIs, e-mail addresses: all that is looked for is one such word. */
const words = /[A-Za-z0-9][A-Za-z0-9@._-]{10,}[A-Za-z0-9_-]/g;
/** What is added to a word on the way: a percent-escape before it, a dot or a hyphen at its end. */
const trimWord = (word: string) => word.replace(/[.-]+$/, "");

/**
 * @param client the database, as its superuser: words of suppressed submissions that no public one has are read from it
 */
export async function createLeakWatch(client: Client): Promise<LeakWatch> {
  const suppressed = new Set(await readSuppressedWords(client));
  const secrets = new Set<string>();
  const find = (known: Set<string>, text: string) => {
    const found = new Set<string>();
    for (const [word] of text.matchAll(words)) {
      // 00 and the like: what %00 leaves before a word. A column has its table before it.
      for (const form of [word, trimWord(word), word.slice(2), word.slice(0, -1), ...word.split(".")]) {
        if (known.has(form)) found.add(form);
      }
    }
    return [...found];
  };
  return {
    addSecret: (secret) => void secrets.add(secret),
    findSecrets: (text) => find(secrets, text),
    findSuppressed: (text) => find(suppressed, text),
    counts: () => ({ secrets: secrets.size, suppressed: suppressed.size }),
  };
}

/** The report ID itself is told as a stub (docs/decisions/0001). */
async function readSuppressedWords(client: Client): Promise<string[]> {
  const select = (schema: string) =>
    `select distinct word[1] as word
     from ${schema}.general as submission,
       jsonb_each_text(to_jsonb(submission) - 'report_id') as field,
       regexp_matches(field.value, '[A-Za-z0-9][A-Za-z0-9@._-]{10,}[A-Za-z0-9_-]', 'g') as word`;
  const { rows } = await client.query(`${select("suppressed")} except ${select("disclosed")}`);
  // Words of a language tell nothing of a submission.
  return rows
    .map(({ word }) => String(word))
    .filter((word) => /[\d@]/.test(word) && !/^\d{4}-\d\d-\d\d/.test(word));
}
