import codes from "../db/api/api_v1_1_0/codes.json" with { type: "json" };
import { simplify } from "./search/words.ts";

type Names = Readonly<Record<string, string>>;

/** Agencies by the first two digits of their Assistance Listing numbers (https://sam.gov/assistance-listings). */
export const agencies: Names = codes.names.agencies;

/** Abbreviations of agencies, with the first two digits of their Assistance Listing numbers. */
export const agencyAbbreviations: Names = codes.names.agency_abbreviations;

/** States and territories by their postal codes. */
export const states: Names = codes.names.states;

const postalCodes = new Map(
  Object.entries(states).flatMap(([code, name]) =>
    [code, name, name.replace("U.S. ", "")].map((each) => [simplify(each), code] as const),
  ),
);

/** Returns a state's postal code, by its name or code. */
export function findState(text: string): string | undefined {
  return postalCodes.get(simplify(text));
}
