import { emptyQuery, type Query } from "../query.ts";
import { writeExtra } from "../write-target.ts";
import type { FindingCriteria } from "./read-criteria.ts";

interface Request {
  /** What the rows of the request are. */
  name: string;
  query: Query;
}

type Parameter = [name: string, value: string];

/**
 * Writes a search as a request to the API. The API has no table of an agency's findings and none of findings with their texts, so
 * such a search becomes a request for the rows nearest to it. Undefined if it is for a program and words.
 *
 * @param phrases the phrases of the words, as regular expressions
 */
export function writeFindingsQuery(criteria: FindingCriteria, phrases: string[] = []): Request | undefined {
  const { words, aln, agency } = criteria;
  if (words !== undefined) {
    const isOfAward = (aln ?? agency ?? criteria.direct) !== undefined;
    return isOfAward ? undefined : ofTexts(criteria, words, phrases);
  }
  return agency === undefined ? ofSummaries(criteria) : ofAwards(criteria, agency);
}

const order = ["fac_accepted_date.desc.nullslast"];

function ofSummaries(criteria: FindingCriteria): Request {
  const { aln, direct } = criteria;
  const parameters: Parameter[] = [
    ...ofReports(criteria),
    ...ofFindings(criteria),
    ...(aln === undefined ? [] : [["alns", `cs.{${aln}}`] as Parameter]),
    ...(direct === undefined ? [] : [["is_direct", `in.(${direct},Both)`] as Parameter]),
  ];
  return {
    name: "Findings",
    query: { ...emptyQuery, table: "finding_summaries", extra: writeExtra(parameters), order },
  };
}

function ofAwards(criteria: FindingCriteria, agency: string): Request {
  const { direct } = criteria;
  const parameters: Parameter[] = [
    ...ofReports(criteria, "general."),
    ...ofFindings(criteria),
    ["federal_awards.federal_agency_prefix", `eq.${agency}`],
    ...(direct === undefined ? [] : [["federal_awards.is_direct", `eq.${direct}`] as Parameter]),
  ];
  const select = [
    "*",
    "...general!inner(auditee_name,auditee_state)",
    "...federal_awards!inner(federal_agency_prefix,federal_award_extension,federal_program_name)",
  ];
  return {
    name: "Findings, with a row for each award",
    query: { ...emptyQuery, table: "findings", select, extra: writeExtra(parameters), order },
  };
}

function ofTexts(criteria: FindingCriteria, words: string, phrases: string[]): Request {
  const parameters: Parameter[] = [
    ["finding_text", `plfts.${words}`],
    ...phrases.map((phrase): Parameter => ["finding_text", `imatch.${phrase}`]),
    ...ofReports(criteria, "general."),
    ...ofFindings(criteria, "findings."),
  ];
  const select = ["*", "...general!inner(auditee_name,auditee_state)"];
  if (ofFindings(criteria).length > 0) select.push("findings!inner(award_reference,type_requirement)");
  return {
    name: "Texts of findings with these words (plans are in corrective_action_plans)",
    query: { ...emptyQuery, table: "findings_text", select, extra: writeExtra(parameters), order },
  };
}

/** Conditions on a report. Tables that refer to it have its year and date too. */
function ofReports({ year, accepted_since: since, state, entity_type: type }: FindingCriteria, place = "") {
  const all: [name: string, value: string | false | undefined][] = [
    ["audit_year", year && `eq.${year}`],
    ["fac_accepted_date", since && `gte.${since}`],
    [`${place}auditee_state`, state && `eq.${state}`],
    [`${place}entity_type`, type && `eq.${type}`],
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
    ["type_requirement", requirement && `like.*${requirement}*`],
    ["is_material_weakness", weakness && "eq.Y"],
    ["is_significant_deficiency", deficiency && "eq.Y"],
    ["is_questioned_costs", costs && "eq.Y"],
    ["is_repeat_finding", repeat && "eq.Y"],
  ];
  return all
    .filter((each): each is Parameter => Boolean(each[1]))
    .map(([name, value]): Parameter => [place + name, value]);
}
