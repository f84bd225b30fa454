import { requirements } from "../finding-words.ts";

// PostgreSQL's English dictionary treats a word's plural and most endings alike, but not these nouns and their verbs.
const pairs = [
  ["certification", "certified"],
  ["compliance", "complied"],
  ["exclusion", "excluded"],
  ["expenditure", "expended"],
  ["maintenance", "maintained"],
  ["notification", "notified"],
  ["omission", "omitted"],
  ["overpayment", "overpaid"],
  ["payment", "paid"],
  ["receipt", "received"],
  ["reconciliation", "reconciled"],
  ["recovery", "recovered"],
  ["retention", "retained"],
  ["submission", "submitted"],
  ["suspension", "suspended"],
  ["verification", "verified"],
];
const others = new Map(
  pairs.flatMap(([noun = "", verb = ""]) => [
    [noun, verb],
    [`${noun}s`, verb],
    [verb, noun],
  ]),
);

/** Replaces words by their other forms, which a search does not find: "suspension" by "suspended". Undefined if there are none. */
export function findOtherForms(words: string): string | undefined {
  const replaced = words.replace(/\p{L}+/gu, (word) => others.get(word.toLowerCase()) ?? word);
  return replaced === words ? undefined : replaced;
}

const common = /^(and|or|of|the|special|other|tests|provisions)$/;

/** The letters of the requirements that have all of these words in their names. */
export function findRequirements(words: string): string[] {
  const list = (text: string) =>
    (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => !common.test(word));
  const asked = list(words);
  return Object.entries(requirements).flatMap(([letter, name]) => {
    const named = list(name);
    return asked.length > 0 && asked.every((word) => named.includes(word)) ? [letter] : [];
  });
}
