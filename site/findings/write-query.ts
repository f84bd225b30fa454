import { quote } from "../aln.ts";
import { isEin, isReportId, isUei } from "../check/read-list.ts";
import { emptyQuery, largestLimit, type Query } from "../query.ts";
import { writeExtra } from "../write-target.ts";
import { type FoundFindings, mostInFile, type WordsPart } from "./find-findings.ts";
import { type FindingCriteria, splitList } from "./read-criteria.ts";

interface Request {
  /** What the rows of the request are. */
  name: string;
  query: Query;
}

/** How the database read the words and the program of a search. */
type Understood = Pick<FoundFindings, "words" | "numbers">;
type Parameter = [name: string, value: string];

/**
 * Writes a search as requests to the API that together return its findings. The API has no table of findings with their texts, so
 * findings with words become requests for rows of texts and plans. A list becomes a request for each kind of ID, because they are in
 * different columns.
 */
export function writeFindingsQueries(criteria: FindingCriteria, found: Understood = {}): Request[] {
  const lists = criteria.u === undefined ? [] : splitByColumn(criteria.u);
  if (lists.length > 1)
    return lists.flatMap(({ name, ids }) =>
      writeFindingsQueries({ ...criteria, u: ids.join(",") }, found).map((request) => ({
        ...request,
        name: `${request.name}, by ${name}`,
      })),
    );
  const { words, aln = criteria.aln_and_letters, agency, direct } = criteria;
  if (words !== undefined) return writeTexts(criteria, found);
  // One row has to meet all conditions on awards.
  const isOfAward = (aln ?? direct) !== undefined;
  const isOfBoth = aln !== undefined && direct !== undefined;
  const needsRows = agency !== undefined || isOfBoth || (isOfAward && ofFindings(criteria).length > 0);
  return [needsRows ? writeRows(criteria, found) : writeSummaries(criteria, found)];
}

/** The kinds of IDs of a list, and the column that has each. Only general has EINs. */
const idColumns = [
  { name: "UEI", column: "auditee_uei", is: isUei },
  { name: "EIN", column: "general.auditee_ein", is: isEin },
  { name: "report ID", column: "report_id", is: isReportId },
];
const splitByColumn = (u: string) =>
  idColumns
    .map(({ is, ...column }) => ({ ...column, ids: splitList(u).filter(is) }))
    .filter(({ ids }) => ids.length > 0);

const order = ["fac_accepted_date.desc.nullslast", "report_id.desc"];

function writeSummaries(criteria: FindingCriteria, { numbers }: Understood): Request {
  const { aln, direct } = criteria;
  const together = numbers?.map((number) => number.aln) ?? [];
  const parameters: Parameter[] = [
    ...ofReports(criteria),
    ...ofFindings(criteria),
    ...(aln === undefined ? [] : [["alns", `cs.{${aln}}`] as Parameter]),
    ...(together.length === 0 ? [] : [["alns", `ov.{${together.join()}}`] as Parameter]),
    ...(direct === undefined ? [] : [["is_direct", `in.(${direct},Both)`] as Parameter]),
  ];
  const query = {
    ...emptyQuery,
    table: "finding_summaries",
    extra: writeExtra(parameters),
    order: [...order, "reference_number"],
    limit: mostInFile,
  };
  const isOfEin = /^\d+$/.test(criteria.auditee ?? "");
  const isOfEins = splitByColumn(criteria.u ?? "").some(({ name }) => name === "EIN");
  const eins = [(isOfEin || isOfEins) && "auditee_ein", criteria.auditor && "auditor_ein"].filter(Boolean);
  const select = eins.length > 0 ? ["*", `...general!inner(${eins.join()})`] : [];
  // Older reports of the auditee have no UEI.
  const name = criteria.auditee && !isOfEin ? "Findings of the reports that have this UEI" : "Findings";
  return { name, query: { ...query, select } };
}

function writeRows(criteria: FindingCriteria, found: Understood): Request {
  const parameters = [
    ...ofReports(criteria, "general."),
    ...ofFindings(criteria),
    ...ofAwards(criteria, found, "federal_awards."),
  ];
  const select = [
    "*",
    "...general!inner(auditee_name,auditee_state)",
    "...federal_awards!inner(federal_agency_prefix,federal_award_extension,federal_program_name)",
  ];
  return {
    name: "Findings, with a row for each award",
    query: {
      ...emptyQuery,
      table: "findings",
      select,
      extra: writeExtra(parameters),
      order,
      limit: largestLimit,
    },
  };
}

/** The tables of findings' texts, and their columns. */
const texts = [
  ["findings_text", "finding_text", "Texts with these words, each row of a long text separately"],
  ["corrective_action_plans", "planned_action", "Plans with these words, each row of a long plan separately"],
] as const;

/** The conditions of one alternative on a text: words, one of several words, and phrases. */
function writeConditions(parts: WordsPart[]): string[] {
  const isPlain = ({ forms, is_excluded: isExcluded, pattern }: WordsPart) =>
    forms.length === 1 && !isExcluded && pattern === undefined;
  const plain = parts.filter(isPlain).map(({ forms }) => forms.join());
  return [
    ...(plain.length > 0 ? [`plfts.${plain.join(" ")}`] : []),
    ...parts
      .filter((part) => !isPlain(part))
      .map(({ forms, is_excluded: isExcluded, pattern }) => {
        const operator = forms.length > 1 ? "wfts" : "plfts";
        const condition = pattern === undefined ? `${operator}.${forms.join(" or ")}` : `imatch.${pattern}`;
        return (isExcluded ? "not." : "") + condition;
      }),
  ];
}

/** The conditions on a column. Alternatives are one parameter. */
function writeAlternatives(column: string, alternatives: WordsPart[][]): Parameter[] {
  const conditions = alternatives.map(writeConditions);
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1)
    return only.map((condition): Parameter => [column, condition]);
  const all = conditions.map((each) => {
    const terms = each.map((condition) => {
      const [, operator = "", value = ""] = /^((?:not\.)?\w+)\.(.*)$/s.exec(condition) ?? [];
      return `${column}.${operator}.${quote(value)}`;
    });
    return terms.length === 1 ? terms.join() : `and(${terms.join(",")})`;
  });
  return all.length === 0 ? [] : [["or", `(${all.join(",")})`]];
}

function writeTexts(criteria: FindingCriteria, found: Understood): Request[] {
  const ofAward = ofAwards(criteria, found, "findings.federal_awards.");
  const ofFinding = ofFindings(criteria, "findings.");
  const select = ["*", "...general!inner(auditee_name,auditee_state)"];
  if (ofAward.length > 0)
    select.push(
      "findings!inner(award_reference,type_requirement,federal_awards!inner(federal_agency_prefix,federal_award_extension))",
    );
  else if (ofFinding.length > 0) select.push("findings!inner(award_reference,type_requirement)");
  return texts.map(([table, column, name]) => {
    const parameters: Parameter[] = [
      ...writeAlternatives(column, found.words ?? []),
      ...ofReports(criteria, "general."),
      ...ofFinding,
      ...ofAward,
    ];
    // To sort by them, the API would read all embedded rows, which may be too many.
    const isSorted = ofAward.length === 0 && ofFinding.length === 0;
    return {
      name,
      query: {
        ...emptyQuery,
        table,
        select,
        extra: writeExtra(parameters),
        order: isSorted ? order : [],
        limit: mostInFile,
      },
    };
  });
}

/** Conditions on an award. */
function ofAwards(
  { aln, aln_and_letters: together, agency, direct }: FindingCriteria,
  { numbers }: Understood,
  place = "",
) {
  const [prefix = agency, extension] = (aln ?? together)?.split(".") ?? [];
  const extensions = numbers?.map((number) => number.aln.slice(3)) ?? [extension];
  const all: [name: string, value: string | false | undefined][] = [
    ["federal_agency_prefix", prefix && `eq.${prefix}`],
    [
      "federal_award_extension",
      extension && (together === undefined ? `eq.${extension}` : `in.(${extensions.join()})`),
    ],
    ["is_direct", direct && `eq.${direct}`],
  ];
  return all
    .filter((each): each is Parameter => Boolean(each[1]))
    .map(([name, value]): Parameter => [place + name, value]);
}

const isOneOf = (values: string): string => (values.includes(",") ? `in.(${values})` : `eq.${values}`);

/** The condition that a column contains one of several letters. */
const hasOneOf = (letters: string): string =>
  letters.includes(",")
    ? `like(any).{${splitList(letters)
        .map((letter) => `*${letter}*`)
        .join()}}`
    : `like.*${letters}*`;

/** Conditions on a report. Tables that refer to it have its year and date too. */
function ofReports(
  { auditee, auditor, u = "", year, accepted_since: since, state, entity_type: type }: FindingCriteria,
  place = "",
) {
  const isEin = /^\d+$/.test(auditee ?? "");
  const all: [name: string, value: string | false | undefined][] = [
    ["audit_year", year && isOneOf(year)],
    ["fac_accepted_date", since && `gte.${since}`],
    // Only general has EINs.
    [isEin ? "general.auditee_ein" : "auditee_uei", auditee && `eq.${auditee}`],
    ...splitByColumn(u).map(({ column, ids }): Parameter => [column, `in.(${ids.join(",")})`]),
    ["general.auditor_ein", auditor && `eq.${auditor}`],
    [`${place}auditee_state`, state && isOneOf(state)],
    [`${place}entity_type`, type && isOneOf(type)],
  ];
  return all.filter((each): each is Parameter => Boolean(each[1]));
}

/** Conditions on a finding. */
function ofFindings(
  {
    requirement,
    material_weakness: weakness,
    significant_deficiency: deficiency,
    questioned_costs: costs,
    repeat,
  }: FindingCriteria,
  place = "",
) {
  const all: [name: string, value: string | false | undefined][] = [
    ["type_requirement", requirement && hasOneOf(requirement)],
    ["is_material_weakness", weakness && "eq.Y"],
    ["is_significant_deficiency", deficiency && "eq.Y"],
    ["is_questioned_costs", costs && "eq.Y"],
    ["is_repeat_finding", repeat && "eq.Y"],
  ];
  return all
    .filter((each): each is Parameter => Boolean(each[1]))
    .map(([name, value]): Parameter => [place + name, value]);
}
