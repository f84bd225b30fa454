import { simplify } from "./search/words.ts";

/** Parses a list such as `10 Agriculture; 11 Commerce`. */
const readNames = (list: string): Readonly<Record<string, string>> =>
  Object.fromEntries(list.split(";").map((each) => each.trim().split(/\s+(.*)/s, 2)));

/** Agencies by the first two digits of their Assistance Listing numbers (https://sam.gov/assistance-listings). */
export const agencies =
  readNames(`08 Peace Corps; 09 Legal Services Corporation; 10 Agriculture; 11 Commerce; 12 Defense;
  14 Housing and Urban Development; 15 Interior; 16 Justice; 17 Labor; 19 State; 20 Transportation; 21 Treasury;
  23 Appalachian Regional Commission; 30 Equal Employment Opportunity Commission; 32 Federal Communications Commission;
  39 General Services Administration; 42 Library of Congress; 43 National Aeronautics and Space Administration;
  45 Arts, Humanities, Museums and Libraries; 47 National Science Foundation; 59 Small Business Administration;
  64 Veterans Affairs; 66 Environmental Protection Agency; 77 Nuclear Regulatory Commission; 81 Energy; 84 Education;
  85 Millennium Challenge Corporation; 87 Gulf Coast Ecosystem Restoration Council; 89 National Archives;
  90 Election Assistance and Regional Commissions; 91 Institute of Peace; 93 Health and Human Services; 94 AmeriCorps;
  95 National Drug Control Policy; 96 Social Security Administration; 97 Homeland Security;
  98 Agency for International Development; 99 Miscellaneous`);

/** States and territories by their postal codes. */
export const states =
  readNames(`AK Alaska; AL Alabama; AR Arkansas; AS American Samoa; AZ Arizona; CA California;
  CO Colorado; CT Connecticut; DC District of Columbia; DE Delaware; FL Florida; FM Micronesia; GA Georgia; GU Guam;
  HI Hawaii; IA Iowa; ID Idaho; IL Illinois; IN Indiana; KS Kansas; KY Kentucky; LA Louisiana; MA Massachusetts;
  MD Maryland; ME Maine; MH Marshall Islands; MI Michigan; MN Minnesota; MO Missouri; MP Northern Mariana Islands;
  MS Mississippi; MT Montana; NC North Carolina; ND North Dakota; NE Nebraska; NH New Hampshire; NJ New Jersey;
  NM New Mexico; NV Nevada; NY New York; OH Ohio; OK Oklahoma; OR Oregon; PA Pennsylvania; PR Puerto Rico; PW Palau;
  RI Rhode Island; SC South Carolina; SD South Dakota; TN Tennessee; TX Texas; UT Utah; VA Virginia;
  VI U.S. Virgin Islands; VT Vermont; WA Washington; WI Wisconsin; WV West Virginia; WY Wyoming`);

/** Abbreviations of agencies, with the first two digits of their Assistance Listing numbers. */
export const agencyAbbreviations =
  readNames(`ARC 23; CNCS 94; DHS 97; DOC 11; DOD 12; DOE 81; DOI 15; DOJ 16; DOL 17; DOS 19; DOT 20; EAC 90; ED 84;
  EEOC 30; EPA 66; FCC 32; FEMA 97; GSA 39; HHS 93; HUD 14; IMLS 45; LOC 42; LSC 09; MCC 85; NARA 89; NASA 43; NEA 45;
  NEH 45; NRC 77; NSF 47; ONDCP 95; SBA 59; SSA 96; USAID 98; USDA 10; USIP 91; VA 64`);

const postalCodes = new Map(
  Object.entries(states).flatMap(([code, name]) =>
    [code, name, name.replace("U.S. ", "")].map((each) => [simplify(each), code] as const),
  ),
);

/** Returns a state's postal code, by its name or code. */
export function findState(text: string): string | undefined {
  return postalCodes.get(simplify(text));
}
