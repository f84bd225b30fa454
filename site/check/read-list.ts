import { cut } from "../search/words.ts";

/** The most entries of a list that are checked. */
export const mostEntries = 1000;
/** The longest list that fits in an address, in characters of the address. */
const longestAddress = 6000;
const longestEntry = 60;

/** An entry of a list, as typed, and the ID that it stands for. */
export interface Entry {
  typed: string;
  kind: "report ID" | "UEI" | "EIN";
  id: string;
}

/** An entry that is not an ID. */
export interface UnreadEntry {
  typed: string;
  kind?: undefined;
}

/** A list of UEIs, EINs and report IDs. */
export interface List {
  /** What is an ID or may be a mistyped one, once, in the order in which it was typed. */
  lines: (Entry | UnreadEntry)[];
  /** The lines that are IDs. */
  entries: Entry[];
  /** What is not an ID, such as the words of names. */
  unread: string[];
  /** What was typed again. */
  repeated: string[];
  /** How many further lines were not read. */
  left: number;
  /** The list as the value of a parameter. Undefined if it is too long for an address. */
  address: string | undefined;
}

/** Reads a list with one entry a line, or with commas, semicolons, tabs, spaces or quotation marks between them. */
export function readList(typed: string): List {
  const words = clean(typed)
    .replace(/\b(\d\d) (\d{7})\b/g, "$1-$2")
    .split(/[\s,;|"'=]+/)
    .map((word) => word.replace(/^(?:uei|ein|report_?id)[:#]/i, "").replace(/\.$/, ""))
    .filter((word) => word !== "" && !isHeading(word));
  const found = new Map<string, Entry | UnreadEntry>();
  const repeated: string[] = [];
  for (const word of words) {
    const typed = cut(word, longestEntry);
    const line: Entry | UnreadEntry = readEntry(typed) ?? { typed };
    const id = line.kind ? line.id : typed.toUpperCase();
    if (!found.has(id)) found.set(id, line);
    else if (mayBeId(line)) repeated.push(typed);
  }
  const all = [...found.values()];
  const possible = all.filter(mayBeId);
  const lines = possible.slice(0, mostEntries);
  const address = encodeURIComponent(words.join(",")).replaceAll("%2C", ",");
  return {
    lines,
    entries: lines.filter((line) => line.kind !== undefined),
    unread: all.filter((line) => line.kind === undefined).map(({ typed }) => typed),
    repeated,
    left: possible.length - lines.length,
    address: address.length <= longestAddress ? address : undefined,
  };
}

/** Makes characters that look alike the same. Removes those that PostgreSQL cannot store, and those that nobody sees. */
const clean = (typed: string): string =>
  typed
    .normalize("NFKC")
    .replace(/\p{Pd}|\u2212/gu, "-")
    .replace(/[^\P{C}\s]/gu, "");

/** Nearly all IDs have a digit. Words of names have none, and their numbers are shorter than an ID with some characters missing. */
export const mayBeId = ({ kind, typed }: Entry | UnreadEntry): boolean =>
  kind !== undefined || isPlaceholder(typed) || (/\d/.test(typed) && typed.length > 5);

/** Whether a text is what reports from before 2023 have instead of an unknown UEI. */
export const isPlaceholder = (text: string): boolean => text.toUpperCase() === "GSA_MIGRATION";

const isHeading = (word: string): boolean =>
  /^(?:(?:auditee|additional)_)?(?:ueis?|eins?)[:#]?$|^report_?ids?:?$/i.test(word);

function readEntry(typed: string): Entry | undefined {
  const word = typed.toUpperCase();
  if (isReportId(word)) return { typed, kind: "report ID", id: word };
  const ein = readEin(word);
  if (ein !== undefined) return { typed, kind: "EIN", id: ein };
  const uei = readUei(word);
  return uei === undefined ? undefined : { typed, kind: "UEI", id: uei };
}

/** Whether a text has the form that reports have UEIs in. */
export const isUei = (text: string): boolean => /^[A-Z0-9]{12}$/.test(text);

/** Whether a text has the form that reports have EINs in. */
export const isEin = (text: string): boolean => /^\d{9}$/.test(text);

/** Reads a UEI. UEIs contain no I and no O, but some reports have such IDs. Nearly all UEIs contain a digit, unlike names of 12 letters. */
export const readUei = (word: string): string | undefined =>
  isUei(word) && (/\d/.test(word) || !/[IO]/.test(word)) ? word : undefined;

/** Whether a text is written like a report ID. */
export const isReportId = (text: string): boolean => /^\d{4}-\d\d-[A-Z]+-\d{10}$/.test(text);

/** Reads an EIN. Spreadsheets remove zeros from the beginning of numbers. */
export const readEin = (text: string): string | undefined =>
  /^(?:\d\d-\d{7}|\d{7,9})$/.test(text) ? text.replace("-", "").padStart(9, "0") : undefined;

/** A list as a part of a file's name. */
export const nameList = (ids: string[]): string =>
  ids.length === 1 ? String(ids[0]) : `${ids.length}-entries`;

/** Says why a text cannot be a UEI. Undefined if it can. */
export function explainUei(text: string): string | undefined {
  const letters = [...new Set(text.match(/[IO]/g))].sort();
  return letters.length === 0 ? undefined : `not a UEI, because UEIs have no letter ${letters.join(" or ")}`;
}

/** Asks for the UEI that a text with the letters I and O may stand for. */
export const askForUei = (text: string): string => `is it ${text.replaceAll("I", "1").replaceAll("O", "0")}?`;
