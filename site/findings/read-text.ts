import { agencyAbbreviations } from "../names.ts";
import { type Filters, narrow } from "../search/read-search.ts";
import { hasWords } from "../search/readers.ts";
import { type FindingCriteria, readFindingCriteria } from "./read-criteria.ts";

const program = /(?:\b(?:ALN|CFDA)(?: (?:no|number)\b)?[.:]? *)?\b(\d\d\.[A-Z0-9]{1,6})\b/i;

/**
 * Reads a search for reports as a search for findings: "suspension and debarment 84.425 Texas". Undefined if it has no words besides
 * the program, agency, state and year, or only words.
 */
export function readFindingsText(text: string, { state, year }: Filters): FindingCriteria | undefined {
  const [found, number] = program.exec(text) ?? [];
  const agency = text.split(/[\s,;]+/).find((word) => Object.hasOwn(agencyAbbreviations, word));
  const named = found ?? agency;
  const ways = narrow(named === undefined ? text : text.replace(named, " "));
  const { rest, ...narrowed } = ways.find((each) => each.state !== undefined) ?? ways[0] ?? { rest: text };
  const { criteria } = readFindingCriteria({
    words: rest,
    program: number ?? agency,
    state: state ?? narrowed.state,
    year: year ?? narrowed.year,
  });
  return hasWords(rest) && Object.keys(criteria).length > 1 ? criteria : undefined;
}
