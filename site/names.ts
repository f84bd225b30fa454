import codes from "../db/api/api_v1_1_0/codes.json" with { type: "json" };
import { simplify } from "./search/words.ts";

type Names = Readonly<Record<string, string>>;

/** Agencies by the first two digits of their Assistance Listing numbers (https://sam.gov/assistance-listings). */
export const agencies: Names = codes.names.agencies;

/** Abbreviations of agencies, with the first two digits of their Assistance Listing numbers. */
export const agencyAbbreviations: Names = codes.names.agency_abbreviations;

/** A program's name without the words that people put around it: "pell" for "the Pell Grant program". */
const simplifyProgram = (name: string): string =>
  simplify(name)
    .replace(/^the /, "")
    .replace(/ programs?$/, "")
    .replace(/ (?:benefits|funding|funds|grants?|vouchers?)$/, "");

const programs = new Map(
  Object.entries(codes.names.everyday_program_names).map(
    ([name, alns]) => [simplifyProgram(name), { name, alns }] as const,
  ),
);

/**
 * Finds a program by its everyday name, such as "Medicaid" (https://sam.gov/assistance-listings: popular names). Some names are of two
 * programs: SNAP has one for benefits and one for their administration.
 */
export const findEverydayProgram = (text: string): { name: string; alns: string[] } | undefined =>
  programs.get(simplifyProgram(text));

/** States and territories by their postal codes, in the order of their names. */
export const states: Names = Object.fromEntries(
  Object.entries(codes.names.states).sort(([, one], [, other]) => one.localeCompare(other)),
);

const postalCodes = new Map(
  Object.entries(states).flatMap(([code, name]) =>
    [code, name, name.replace("U.S. ", "")].map((each) => [simplify(each), code] as const),
  ),
);

/** Returns a state's postal code, by its name or code. */
export function findState(text: string): string | undefined {
  return postalCodes.get(simplify(text));
}

/** Returns the name of the state that a text misspells by one letter, or by two letters in the wrong order. */
export function findSimilarState(text: string): string | undefined {
  const written = simplify(text);
  return Object.values(states).find((name) => differsSlightly(written, simplify(name)));
}

function differsSlightly(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  if (shorter < 4) return false;
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [here = "", there = ""] = [one, other].map((each) => each.slice(start, each.length - end));
  const areSwapped = here.length === 2 && here === [...there].reverse().join("");
  return areSwapped || Math.max(here.length, there.length) === 1;
}
