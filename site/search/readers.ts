import { agencies, agencyAbbreviations, findEverydayProgram } from "../names.ts";
import { simplify, split } from "./words.ts";

/** What a report must match: criteria of publication.search_reports(). */
export interface Criteria {
  report_ids?: string[];
  uei?: string;
  ein?: string;
  auditor_ein?: string;
  agency?: string;
  program?: string;
  name?: string;
  /** The whole name, not only words of it. Stands beside `name`, whose index finds it. */
  full_name?: string;
  name_beginnings?: string;
  name_and_city?: string;
  auditor?: string;
  secondary_auditor?: string;
  secondary_auditor_ein?: string;
  city?: string;
  /** Counts only if no reading before it has matches. */
  only_if_nothing?: true;
  /** Only reports with findings. */
  findings?: true;
  state?: string;
  year?: string;
  /** Audits whose auditee's name has these words come first. */
  all_words?: string;
}

interface Meaning {
  criteria: Criteria;
  /** Completes "Audits …". */
  words: string;
  /** Whether the program was typed as a name, which may also be an auditee's. */
  isNamed?: true;
}

export interface Reader {
  /** Texts with this meaning. */
  examples: string[];
  /** Returns undefined if the text cannot have this meaning. */
  read: (text: string) => Meaning | undefined;
}

/** The meanings of a search without its state and year, the most specific first. */
export const readers: Record<string, Reader> = {
  everything: {
    examples: [],
    read: (text) => (text === "" ? { criteria: {}, words: "of all auditees" } : undefined),
  },
  reportId: {
    examples: ["2023-06-GSAFAC-0000000001"],
    read: readMatch(/^(?:report id:? *)?(\d{4}-\d{2}-[A-Z]+-\d{10})$/i, ([id = ""]) => ({
      criteria: { report_ids: [id] },
      words: `with the report ID ${id}`,
    })),
  },
  uei: {
    examples: ["ABCDEFGH1234"],
    read: readMatch(/^(?:UEI:? *)?([A-Z0-9]{12})$/i, ([uei = ""]) => ({
      criteria: { uei },
      words: `of the auditee with the UEI ${uei}`,
    })),
  },
  ein: {
    examples: ["94-1234567"],
    read: readEin((ein) => ({ criteria: { ein }, words: `of auditees with the EIN ${ein}` })),
  },
  auditorEin: {
    examples: ["EIN 941234567"],
    read: readEin((ein) => ({ criteria: { auditor_ein: ein }, words: `by the auditor with the EIN ${ein}` })),
  },
  secondaryAuditorEin: {
    examples: ["941234567"],
    read: readEin((ein) => ({
      criteria: { secondary_auditor_ein: ein },
      words: `with a secondary auditor with the EIN ${ein}`,
    })),
  },
  program: {
    examples: ["93.778"],
    read: readMatch(
      /^(?:(?:ALN|CFDA)(?: (?:no|number)\b)?[.:]? *)?(\d\d)\.([A-Z0-9]{1,6})$/i,
      ([agency = "", program = ""]) => ({
        criteria: { agency, program },
        words: `with awards of the program ${agency}.${program}`,
      }),
    ),
  },
  everydayProgram: { examples: ["Medicaid", "the Pell Grant program", "CDBG"], read: readEveryday(0) },
  otherEverydayProgram: { examples: ["CDBG"], read: readEveryday(1) },
  agency: { examples: ["93", "HHS", "Department of the Interior"], read: readAgency },
  name: {
    examples: ["County of Shelby", "anasco", "Y.M.C.A."],
    read: readWords((name) => ({
      criteria: { name },
      words: `of auditees whose name has the words “${name}”`,
    })),
  },
  city: {
    examples: ["San Juan", "St. Louis"],
    read: readWords((city) => ({ criteria: { city }, words: `of auditees in the city “${city}”` })),
  },
  auditor: {
    examples: ["KPMG LLP"],
    read: readWords((auditor) => ({
      criteria: { auditor },
      words: `by auditors whose name has the words “${auditor}”`,
    })),
  },
  secondaryAuditor: {
    examples: ["Baker Tilly"],
    read: readWords((auditor) => ({
      criteria: { secondary_auditor: auditor },
      words: `with a secondary auditor whose name has the words “${auditor}”`,
    })),
  },
  nameAndCity: {
    examples: ["Cochise Transit Yuma"],
    read: (text) =>
      split(text).includes(" ")
        ? {
            criteria: { name_and_city: text, only_if_nothing: true },
            words: `of auditees whose name and city have the words “${text}”`,
          }
        : undefined,
  },
  nameBeginnings: {
    examples: ["Univ Alask"],
    read: readWords((beginnings) => ({
      criteria: { name_beginnings: beginnings, only_if_nothing: true },
      words: `of auditees whose name has words that begin with “${beginnings}”`,
    })),
  },
  cityByKind: {
    examples: ["City of Saint Cloud"],
    read: (text) => {
      const [, city = ""] = placeKind.exec(text) ?? [];
      return hasWords(city)
        ? { criteria: { city, only_if_nothing: true }, words: `of auditees in the city “${city}”` }
        : undefined;
    },
  },
};

function readWords(describe: (words: string) => Meaning): Reader["read"] {
  return (text) => (text === "" ? undefined : describe(text));
}

/** Makes a reader of texts that match a pattern. It gets the groups in upper case. */
function readMatch(pattern: RegExp, describe: (groups: string[]) => Meaning): Reader["read"] {
  return (text) => {
    const found = pattern.exec(text);
    return found ? describe(found.slice(1).map((group) => group.toUpperCase())) : undefined;
  };
}

function readEin(describe: (ein: string) => Meaning): Reader["read"] {
  return readMatch(/^(?:EIN:? *)?(\d\d)[- ]?(\d{7})$/i, (groups) => describe(groups.join("")));
}

/** Reads the everyday name of a program. Some names are of two programs, so `place` says which one is meant. */
function readEveryday(place: 0 | 1): Reader["read"] {
  return (text) => {
    const { name, alns = [] } = findEverydayProgram(text) ?? {};
    const aln = alns[place];
    const [agency = "", program = ""] = aln?.split(".") ?? [];
    if (aln === undefined) return undefined;
    return {
      criteria: { agency, program },
      words: `with awards of the program ${aln} (${name})`,
      isNamed: true,
    };
  };
}

/** "City of", before the name of a place. */
const placeKind = /^(?:the )?(?:city|town|village|borough|municipality) of (.*)/i;

const agencyNames = new Map(
  Object.entries(agencies).map(([prefix, name]) => [simplify(name), prefix] as const),
);

function readAgency(text: string): Meaning | undefined {
  const name = simplify(text).replace(/^(the )?(us |federal )?((department|dept) of )?(the )?/, "");
  const agency = /^\d\d$/.test(name)
    ? name
    : (agencyAbbreviations[name.toUpperCase()] ?? agencyNames.get(name));
  if (agency === undefined) return undefined;
  const title = agencies[agency];
  return {
    criteria: { agency },
    words: `with awards of the agency ${title ? `${title} (${agency})` : agency}`,
  };
}

/** Whether a text has a letter or a digit. */
export const hasWords = (text: string): boolean => split(text) !== "";
