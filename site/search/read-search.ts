import { readList } from "../check/read-list.ts";
import { findSimilarState, findState, states } from "../names.ts";
import { type Criteria, hasWords, type Reader, readers } from "./readers.ts";
import { cut } from "./words.ts";

/** The longest search, in characters. The rest is not read. */
export const longestSearch = 200;
const mostReadings = 20;

/** One meaning of a search. */
export interface Reading {
  /** Its place among the readings of its search. */
  place: number;
  criteria: Criteria;
  /** Completes "Audits …": "of auditees whose name has the words “polk county”, in Iowa". */
  words: string;
  /** Whether the program was typed as a name, which may also be an auditee's. */
  isNamed?: true;
}

/** Makes a search one line of text that PostgreSQL can store. */
export function cleanSearch(typed: unknown): string {
  return [typed]
    .flat()
    .filter((text) => typeof text === "string")
    .join(" ")
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ")
    .trim();
}

/** What a search is narrowed to by its form. It takes the place of the state and the year in the text. */
export type Filters = Pick<Criteria, "state" | "year" | "findings">;

/** Lists the meanings that a search may have, the likeliest first. */
export function readSearch(typed: string, filters: Filters = {}): Reading[] {
  const text = dropRepeatedId(cut(typed, longestSearch).trim());
  const found = new Map<string, Omit<Reading, "place">>();
  for (const { read } of Object.values(readers)) {
    for (const narrowed of narrow(text).map((each) => ({ ...each, ...filters }))) {
      const reading = readPart(narrowed, read);
      if (reading !== undefined) found.set(JSON.stringify(reading.criteria), reading);
    }
  }
  const readings = [...listFullNames(text, filters, [...found.values()]), ...found.values()];
  const certain = readings.filter(isCertain);
  return (certain.length > 0 ? certain : readings)
    .slice(0, mostReadings)
    .map((reading, place) => ({ ...reading, place }));
}

/** An ID that was pasted twice counts once, in whatever form. */
function dropRepeatedId(text: string): string {
  const { entries, unread, repeated } = readList(text);
  const [entry, ...others] = entries;
  const isRepeated = entry !== undefined && others.length === 0 && repeated.length > 0;
  return isRepeated ? [entry.id, ...unread].join(" ") : text;
}

/** The likeliest reading that takes words for a name. */
export const findNamed = (readings: Reading[]): Reading | undefined =>
  readings.find(({ criteria: { name } }) => name !== undefined);

/** An auditee may be named like an agency in a state: "Oklahoma Department of Transportation". Its whole name comes first. */
function listFullNames(text: string, filters: Filters, readings: Omit<Reading, "place">[]) {
  const isAgency = readings.some(({ criteria: { agency, program, state } }) => agency && state && !program);
  const { rest: name, year } = narrow(text).find(({ state }) => state === undefined) ?? { rest: "" };
  if (!isAgency || !hasWords(name)) return [];
  const narrowed = { ...(year && { year }), ...filters };
  const words = `of auditees whose name is “${name}”${describeNarrowing(narrowed)}`;
  return [{ criteria: { name, full_name: name, ...narrowed }, words }];
}

interface Narrowed extends Filters {
  /** The search without its state and year. */
  rest: string;
  /** With the state, which may be part of the name: "University of Iowa". */
  all_words?: string;
}

function readPart(
  { rest, all_words, ...narrowed }: Narrowed,
  read: Reader["read"],
): Omit<Reading, "place"> | undefined {
  const isReadable = hasWords(rest) || (rest === "" && Object.keys(narrowed).length > 0);
  const meaning = isReadable ? read(rest) : undefined;
  if (meaning === undefined) return undefined;
  const isNarrowedName = meaning.criteria.name !== undefined && all_words !== undefined;
  return {
    criteria: { ...meaning.criteria, ...narrowed, ...(isNarrowedName && { all_words }) },
    words: `${meaning.words}${describeNarrowing({ ...meaning.criteria, ...narrowed })}`,
    ...(meaning.isNamed && { isNamed: true }),
  };
}

/** Whether a search has a number that is not part of a name. A name may have 12 letters, but a UEI nearly always has a digit too. */
function isCertain({
  criteria: { report_ids, uei = "", ein, auditor_ein, secondary_auditor_ein, program },
  isNamed,
}: Omit<Reading, "place">): boolean {
  const number = report_ids ?? ein ?? auditor_ein ?? secondary_auditor_ein ?? program;
  return isNamed === undefined && (number !== undefined || /\d/.test(uei));
}

/** Splits a search in all ways that make sense. The last of them is the whole search, because names have states and years. */
export function narrow(text: string): Narrowed[] {
  const bare = trim(text.replace(/\bFY['’ ]*(?:20)?([12]\d)\b/i, "20$1"));
  const [, before = "", year, after = ""] = /^(.*?)\b((?:19|20)\d\d)\b(.*)$/.exec(bare) ?? [];
  // Report IDs begin with a year.
  const isYear = year !== undefined && !/^-\d/.test(after) && !/[.-]$/.test(before);
  const ofYear = isYear ? { year } : {};
  const rest = isYear ? trim(`${before} ${after}`) : bare;
  const inState = (split: [string, string] | undefined) =>
    split === undefined ? [] : [{ rest: split[0], state: split[1], ...ofYear, all_words: rest }];
  const ends = inState(splitState(rest, "end"));
  // More names begin with a state than end with one: "Iowa City", "Texas Christian University".
  const beginnings = inState(splitState(rest, "beginning"));
  const middles = ends.length + beginnings.length > 0 ? [] : inState(splitState(rest, "middle"));
  return [...ends, { rest, ...ofYear }, ...beginnings, ...middles, { rest: text }];
}

/** Removes words around the search itself: "audits of … in", "… reports", "FY …". Keeps IN, which is Indiana. */
function trim(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/^(?:single )?(?:audits?|reports?) (?:of|for|from|in) /i, "")
    .replace(/(?<!\b(?:of|for|from)) (?:audits?|reports?)$/i, "")
    .replace(/(?<![^ ,])(?:(?:of|in|for|from|[Aa]udit [Yy]ears?|[Ff]iscal [Yy]ears?|FY)[ ,:]*)+$/, "")
    .replace(/^[\s,;:]+|[\s,;:]+$/g, "");
}

/** Splits off the name or postal code of a state. */
function splitState(
  text: string,
  side: "beginning" | "middle" | "end",
): [rest: string, state: string] | undefined {
  const words = text.split(/[\s,]+/);
  for (const count of [4, 3, 2, 1]) {
    const last = Math.max(words.length - count, 0);
    const places = { beginning: [0], middle: words.slice(count).map((_, index) => index), end: [last] };
    for (const place of places[side]) {
      const named = words.slice(place, place + count).join(" ");
      const state = side === "middle" && isWord(named) ? undefined : findState(named);
      if (state !== undefined) return [trim(words.toSpliced(place, count).join(" ")), state];
    }
  }
  return undefined;
}

/** Whether a postal code is more likely a word: "School District in Easton", "University of La Verne". */
const isWord = (text: string): boolean => /^(al|as|[Cc]o|de|in|[Ll]a|me|or)$/.test(text);

/** Corrects the misspelled name of a state: "93.778 Texs". */
export function correctState(text: string): string {
  const words = text.split(" ");
  for (const count of [3, 2, 1])
    for (const place of words.keys()) {
      const state = findSimilarState(words.slice(place, place + count).join(" "));
      if (state !== undefined) return words.toSpliced(place, count, state).join(" ");
    }
  return text;
}

/** The findings filter is of the whole report, also if the search names a program or an agency. */
export const nameFindingsFilter = (agency: string | undefined): string =>
  `with findings${agency === undefined ? "" : " (on any program)"}`;

/** Completes a sentence: ", in Texas, audit year 2023". */
export function describeNarrowing({
  agency,
  state,
  year,
  findings,
}: Filters & Pick<Criteria, "agency">): string {
  return `${state ? `, in ${states[state]}` : ""}${year ? `, audit year ${year}` : ""}${findings ? `, ${nameFindingsFilter(agency)}` : ""}`;
}
