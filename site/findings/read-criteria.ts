import { nameList, readEin, readList, readUei } from "../check/read-list.ts";
import { count, describeRequirement, entityTypes, requirements } from "../finding-words.ts";
import { capitalize } from "../format.ts";
import { agencies, findState, states } from "../names.ts";
import { readAlnOrAgency, readYear } from "../read-filters.ts";
import { cleanSearch } from "../search/read-search.ts";
import { cut } from "../search/words.ts";

/** What findings must match: criteria of publication.search_findings(). Those in `several` may have several values, separated by commas. */
export interface FindingCriteria {
  words?: string;
  /** A UEI or an EIN. */
  auditee?: string;
  /** The EIN of an auditor. */
  auditor?: string;
  aln?: string;
  /** The number of a program without letters, for all awards under it and its letter codes. */
  aln_and_letters?: string;
  agency?: string;
  requirement?: string;
  state?: string;
  year?: string;
  entity_type?: string;
  material_weakness?: "Y";
  significant_deficiency?: "Y";
  questioned_costs?: "Y";
  repeat?: "Y";
  direct?: "Y" | "N";
  accepted_since?: string;
  /** UEIs, EINs and report IDs, with commas between them. */
  u?: string;
}
export type Criterion = keyof FindingCriteria;

/** How the filters that take several values read each of them. A finding must match one of the values. */
const several = {
  requirement: (text) => {
    const letter = text.replace(/^requirement /i, "").toUpperCase();
    return Object.hasOwn(requirements, letter) ? letter : undefined;
  },
  state: findState,
  year: readYear,
  entity_type: (text) => (Object.hasOwn(entityTypes, text) ? text : undefined),
} satisfies Partial<Record<Criterion, (text: string) => string | undefined>>;
export type Several = keyof typeof several;
export const isSeveral = (name: string): name is Several => Object.hasOwn(several, name);

/** The longest search for words, in characters. The rest is not read. */
export const longestWords = 200;

/** Filters that a checkbox switches on, and their names. */
export const flags = {
  material_weakness: "Material weakness",
  significant_deficiency: "Significant deficiency",
  questioned_costs: "Questioned costs",
  repeat: "Repeat finding",
} as const;

/** The fields of the form, as parameters of its address, and their labels. */
export const fields = {
  words: "Words in the finding or the plan",
  program: "Program (ALN) or agency",
  requirement: "Requirement",
  state: "State",
  year: "Audit year",
  entity_type: "Kind of auditee",
  direct: "Awards",
  accepted_since: "Accepted since",
  auditee: "Auditee (name, UEI or EIN)",
  auditor: "Auditor (name or EIN)",
  u: "List of UEIs, EINs or report IDs",
  ...flags,
} as const;
export type Field = keyof typeof fields;

/** Reads a field's text. Returns undefined if it is not understood. */
type ReadField = (text: string) => FindingCriteria | undefined;

const readFlag =
  (flag: keyof typeof flags): ReadField =>
  (text) =>
    /^(y|yes|on|true|1)$/i.test(text) ? { [flag]: "Y" } : undefined;

const readField: Record<Exclude<Field, Several>, ReadField> = {
  words: (text) => ({ words: cut(text, longestWords) }),
  program: (text) => {
    const [, number] = /^(.*?) ?\*$/.exec(text) ?? [];
    const program = readAlnOrAgency(number ?? text);
    if (number !== undefined) return hasLetterCodes(program) ? { aln_and_letters: program } : undefined;
    return program === undefined ? undefined : ofProgram(program);
  },
  auditee: (text) => {
    const auditee = readEin(text) ?? readUei(text.toUpperCase());
    return auditee === undefined ? undefined : { auditee };
  },
  auditor: (text) => {
    const auditor = readEin(text);
    return auditor === undefined ? undefined : { auditor };
  },
  u: (text) => {
    const { entries, lines, unread, left } = readList(text);
    const isRead = entries.length > 0 && entries.length === lines.length && unread.length + left === 0;
    return isRead ? { u: entries.map(({ id }) => id).join(",") } : undefined;
  },
  direct: (text) => (text === "Y" || text === "N" ? { direct: text } : undefined),
  accepted_since: (text) => (isDate(text) ? { accepted_since: text } : undefined),
  material_weakness: readFlag("material_weakness"),
  significant_deficiency: readFlag("significant_deficiency"),
  questioned_costs: readFlag("questioned_costs"),
  repeat: readFlag("repeat"),
};

/** The findings on a program, by its number, or on an agency, by its first two digits. */
export const ofProgram = (program: string): FindingCriteria =>
  program.includes(".") ? { aln: program } : { agency: program };

/** Whether a program's number may have letter codes: 84.425 may, 84.425D may not. */
const hasLetterCodes = (aln: string | undefined): aln is string => /^\d\d\.\d{3}$/.test(aln ?? "");

/** Whether a text is a date that the calendar has, such as 2026-01-31. */
export function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return (
    /^(19|20)\d\d-\d\d-\d\d$/.test(text) &&
    !Number.isNaN(date.getTime()) &&
    date.toISOString().startsWith(text)
  );
}

export interface AskedFindings {
  criteria: FindingCriteria;
  /** The fields that were not, or not completely, understood, and the text that was not. */
  ignored: [field: Field, text: string][];
  /** Whether words were cut off. */
  isCut: boolean;
}

/** Reads the parameters of an address. Empty ones mean nothing. Parameters of the same name are read as one text. */
export function readFindingCriteria(parameters: Readonly<Record<string, unknown>>): AskedFindings {
  const asked: AskedFindings = { criteria: {}, ignored: [], isCut: false };
  for (const field of Object.keys(fields) as Field[]) {
    // Pages take each other's addresses, and some call the program aln.
    const typed = [parameters[field], field === "program" ? parameters.aln : undefined]
      .flat()
      .filter((each) => typeof each === "string");
    if (isSeveral(field)) {
      readSeveral(asked, field, typed.join(","));
      continue;
    }
    const text = cleanSearch([...new Set(typed)]);
    if (text === "") continue;
    const read = readField[field](text);
    if (read === undefined) asked.ignored.push([field, cut(text, longestWords)]);
    Object.assign(asked.criteria, read);
    asked.isCut ||= field === "words" && text !== cut(text, longestWords);
  }
  return asked;
}

function readSeveral({ criteria, ignored }: AskedFindings, field: Several, typed: string): void {
  const texts = typed.split(",").map(cleanSearch).filter(Boolean);
  const values = new Set(texts.map(several[field]).filter((value) => value !== undefined));
  const unread = new Set(texts.filter((text) => several[field](text) === undefined));
  if (values.size > 0) criteria[field] = [...values].sort().join();
  if (unread.size > 0) ignored.push([field, cut([...unread].join(), longestWords)]);
}

/** The IDs of a list, or the values of a filter. */
export const splitList = (list = ""): string[] => list.split(",").filter(Boolean);

/** A program or agency, as it is written in the form. 84.425* is the program 84.425 with its letter codes. */
export const writeProgram = ({ aln, aln_and_letters: number, agency }: FindingCriteria): string | undefined =>
  aln ?? (number === undefined ? agency : `${number}*`);

/** Whether a search asks for a program. */
export const asksForProgram = (
  { aln, aln_and_letters: together, agency }: FindingCriteria,
  program: string,
): boolean =>
  program === aln ||
  (together !== undefined && program.replace(/[A-Z]+$/, "") === together) ||
  (agency !== undefined && program.startsWith(`${agency}.`));

/** The address of the findings that match criteria. */
export function linkFindings(criteria: FindingCriteria, page = 1, path = "/findings"): string {
  const { aln, aln_and_letters, agency, ...others } = criteria;
  const program = writeProgram(criteria);
  const parameters = new URLSearchParams({
    ...others,
    ...(program !== undefined && { program }),
    ...(page > 1 && { page: String(page) }),
  });
  return parameters.size === 0 ? path : `${path}?${String(parameters).replaceAll("%2C", ",")}`;
}

/** The address of a search, including what was not understood. */
export function linkAsked({ criteria, ignored }: AskedFindings, page = 1): string {
  const typed = ignored.map(([field, text]) => [
    field,
    isSeveral(field) ? [...splitList(criteria[field]), text].join() : text,
  ]);
  return linkFindings({ ...criteria, ...Object.fromEntries(typed) }, page);
}

/** A search with an ID or a number in the place of a name that was typed. */
export const replaceName = (asked: AskedFindings, field: Field, found: FindingCriteria): AskedFindings => ({
  ...asked,
  criteria: { ...asked.criteria, ...found },
  ignored: asked.ignored.filter(([other]) => other !== field),
});

/** The address of a search with another name in the place of one that was typed. */
export const linkOtherName = (asked: AskedFindings, field: Field, name: string): string =>
  linkAsked({ ...asked, ignored: asked.ignored.map(([each, text]) => [each, each === field ? name : text]) });

/** The address of the same findings with those of the program's letter codes. Undefined if no such program is asked for. */
export function linkTogether({ aln, ...others }: FindingCriteria): string | undefined {
  const number = aln?.replace(/[A-Z]{1,3}$/, "");
  return hasLetterCodes(number) ? linkFindings({ ...others, aln_and_letters: number }) : undefined;
}

/** Describes the value of a filter in words, or several values that are separated by commas: "Audit year 2022 or 2023". */
export function describeValue(criterion: string, value: string): string {
  const join = (describeOne: (value: string) => string) => splitList(value).map(describeOne).join(" or ");
  const describe: Record<string, (value: string) => string> = {
    // A phrase has its own quotation marks.
    words: (words) => (/["“”]/.test(words) ? words : `“${words}”`),
    auditee: (id) => `Auditee ${id}`,
    auditor: (ein) => `Auditor ${ein}`,
    aln: (aln) => `Program ${aln}`,
    aln_and_letters: (aln) => `Program ${aln} with its letter codes`,
    agency: (agency) => `${agency} ${agencies[agency] ?? ""}`.trim(),
    requirement: () => join(describeRequirement),
    state: () => join((state) => states[state] ?? state),
    year: () => `Audit year ${join((year) => year)}`,
    entity_type: () => capitalize(join((type) => entityTypes[type] ?? type)),
    direct: (direct) => (direct === "Y" ? "Direct awards" : "Passed-through awards"),
    accepted_since: (date) => `Accepted since ${date}`,
    u: (ids) => `A list of ${count(splitList(ids).length, "ID")}`,
  };
  return describe[criterion]?.(value) ?? flags[criterion as keyof typeof flags] ?? value;
}

/** The criteria as parts of a file's name. */
export const nameCriteria = (criteria: FindingCriteria): string[] =>
  Object.entries(criteria).map(([name, value]) => {
    if (name === "direct") return value === "Y" ? "direct" : "passed-through";
    if (Object.hasOwn(flags, name)) return name;
    if (name === "u") return nameList(splitList(value));
    if (name === "aln_and_letters") return `${value}-and-letters`;
    const isClear = ["words", "aln", "state", "year", "entity_type"].includes(name);
    return isClear ? value : `${name}-${value}`;
  });

/** The criteria in words, in the order of the form. IDs have the names that belong to them, if these are known. */
export const describeCriteria = (
  criteria: FindingCriteria,
  names: { auditee?: string | undefined; auditor?: string | undefined } = {},
): [criterion: Criterion, words: string][] =>
  (Object.keys(criteria) as Criterion[]).map((name) => {
    const value = criteria[name] ?? "";
    const known = name === "auditee" || name === "auditor" ? names[name] : undefined;
    return [name, describeValue(name, known ? `${known} (${value})` : value)];
  });
