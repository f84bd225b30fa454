import type { FastifyReply, FastifyRequest } from "fastify";
import { sendError } from "../../shared/web/error-responses.ts";
import { findState } from "../names.ts";
import type { PageRoutes } from "../page-routes.ts";
import { type Choice, type SimilarNames, writeChoices, writeFindings } from "../pages/findings.ts";
import { linkToFinding } from "../pages/findings-list.ts";
import {
  type Group,
  isInState,
  linkToGroup,
  writeGroup,
  writeGroupChart,
  writeNotInState,
  writeUnknownGroup,
} from "../pages/group.ts";
import { readPage, refuseUnread } from "../read-filters.ts";
import { identifyVisitor, type Visitor } from "../search/limit-queries.ts";
import { cleanSearch } from "../search/read-search.ts";
import { hasWords } from "../search/readers.ts";
import { simplify } from "../search/words.ts";
import { sendSpreadsheet } from "../send-csv.ts";
import { sendSvg } from "../send-svg.ts";
import type { FindingsReader } from "./find-findings.ts";
import {
  type AskedFindings,
  linkAsked,
  linkFindings,
  linkOtherName,
  nameCriteria,
  ofProgram,
  readFindingCriteria,
  replaceName,
} from "./read-criteria.ts";

/** Serves searches for findings, as a page and as CSV, and the pages of programs, agencies and states. */
export function serveFindings(parts: PageRoutes, reader: FindingsReader): void {
  const { addRoute, describeContext, sendPage } = parts;
  addRoute("/findings", async (request, reply) => {
    const parameters = request.query as Record<string, unknown>;
    const asked = readFindingCriteria(parameters);
    const page = readPage(parameters.page);
    const shown = page ?? 1;
    // The form also sends its empty fields, and one parameter for each value. Without them, the address is short enough to be kept.
    const isLong = Object.values(parameters).some((value) => value === "" || Array.isArray(value));
    if (isClear(asked) && page !== undefined && isLong)
      return reply.redirect(linkFindings(asked.criteria, shown), 302);
    const visitor = identifyVisitor(request, reply);
    const { named, choices, similar } = await findNamed(asked, reader, visitor);
    if (choices.length > 0)
      return sendPage(request, reply, writeChoices(await describeContext(request), named, choices), {
        isPrivate: true,
      });
    if (named.ignored.length < asked.ignored.length) return reply.redirect(linkAsked(named, shown), 302);
    const found = await reader.search(visitor, asked.criteria, shown);
    const context = await describeContext(request);
    const body = writeFindings(context, {
      ...asked,
      page: shown,
      isPageUnread: page === undefined,
      similar,
      found,
    });
    return sendPage(request, reply, body, { isPrivate: true });
  });
  addRoute("/findings.csv", async (request, reply) => {
    const parameters = request.query as Record<string, unknown>;
    const asked = readFindingCriteria(parameters);
    if (!isClear(asked)) return sendError(reply, refuseUnread("findings", "/findings"));
    const hasTexts = parameters.texts === "Y";
    const criteria = hasTexts ? { ...asked.criteria, texts: "Y" as const } : asked.criteria;
    const rows = await reader.list(identifyVisitor(request, reply), criteria);
    const context = await describeContext(request);
    return sendSpreadsheet(request, reply, context, {
      name: ["findings", ...nameCriteria(asked.criteria), hasTexts && "with-texts"],
      columns: [...columns, ...(hasTexts ? ["finding_text", "planned_action"] : [])],
      rows: rows.map(({ matching, texts, ...row }) => {
        // Without a filter of awards, all of them match.
        const { awards, amount_expended } = (matching ?? row) as Matching;
        return {
          ...row,
          ...(texts as object | undefined),
          matching_awards: awards,
          matching_amount_expended: amount_expended,
          address: context.appUrl + linkToFinding(row.report_id, row.reference_number, row.place),
        };
      }),
    });
  });
  for (const kind of ["program", "agency", "state"] as const) {
    addRoute(`/${kind}/:value`, (request, reply) => serveGroup(parts, reader, kind, request, reply));
    addRoute(`/${kind}/:value/:chart(^\\w+).svg`, (request, reply) =>
      serveGroup(parts, reader, kind, request, reply),
    );
  }
}

/**
 * Finds the auditee, the auditor and the program that were typed as names. A name of one becomes its ID or number. Of a name of several, the
 * visitor chooses one. For an unknown name, it finds links to similar ones.
 */
async function findNamed(
  asked: AskedFindings,
  reader: FindingsReader,
  visitor: Visitor,
): Promise<{ named: AskedFindings; choices: Choice[]; similar: SimilarNames }> {
  let named = asked;
  const similar: SimilarNames = {};
  const choices: Choice[] = [];
  for (const [field, text] of asked.ignored) {
    if (!hasWords(text)) continue;
    if (field === "program") {
      const { programs, similar: ofPrograms } = await reader.listPrograms(visitor, text);
      const [first] = programs;
      if (programs.length > 1) choices.push({ field, text, programs });
      else if (first) named = replaceName(named, field, ofProgram(first.aln));
      similar[field] = ofPrograms.map(({ aln, federal_program_name: name }) => ({
        name: `${aln} ${name}`,
        link: linkAsked(replaceName(asked, field, ofProgram(aln))),
      }));
    } else if (field === "auditee" || field === "auditor") {
      const state = field === "auditee" ? asked.criteria.state : undefined;
      const found = await reader.listNamedIds(visitor, field, text, state);
      const [first] = found.ids;
      if (found.total > 1) choices.push({ field, text, found });
      else if (first) named = replaceName(named, field, { [field]: first.id });
      similar[field] = found.similar
        .filter((name) => simplify(name) !== simplify(text))
        .map((name) => ({ name, link: linkOtherName(asked, field, name) }));
    }
  }
  return { named, choices, similar };
}

const isClear = ({ ignored, isCut }: AskedFindings): boolean => ignored.length === 0 && !isCut;

/** The awards of a finding that match a search for awards. */
type Matching = { awards: number; amount_expended: number | null };

async function serveGroup(
  { describeContext, sendPage }: PageRoutes,
  reader: FindingsReader,
  kind: Group["kind"],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { value: typed, chart } = request.params as { value: string; chart?: string };
  const value = typed.replace(/\.csv$/, "");
  const suffix = typed === value ? "" : ".csv";
  // The filter takes several states, but these pages are about one.
  const typedState = kind === "program" ? cleanSearch((request.query as { state?: unknown }).state) : "";
  const state = findState(kind === "state" ? value : typedState);
  const { criteria, ignored } = readFindingCriteria({ state, ...(kind !== "state" && { program: value }) });
  const exact = kind === "program" ? criteria.aln : criteria[kind];
  const group: Group = { kind, value: exact ?? value, criteria };
  // A program's page takes an agency too, and the other way round.
  const { aln, agency } = criteria;
  if (kind === "program" && agency !== undefined) return reply.redirect(`/agency/${agency}`, 302);
  if (kind === "agency" && aln !== undefined) return reply.redirect(`/program/${aln}`, 302);
  const isState = typedState === "" || state !== undefined;
  // Names and small letters lead to the page's only address.
  const isExact = exact === value && (kind === "state" || (state ?? "") === typedState);
  if (exact !== undefined && !isExact && isState && chart === undefined)
    return reply.redirect(linkToGroup(group, suffix), 302);
  const visitor = identifyVisitor(request, reply);
  // What is not a number may be a name.
  const [[, name] = []] = ignored;
  const named =
    name !== undefined && kind === "program" && hasWords(name)
      ? await reader.listPrograms(visitor, name)
      : undefined;
  const [only, ...others] = named?.programs ?? [];
  if (only !== undefined && others.length === 0 && chart === undefined)
    return reply.redirect(linkToGroup({ ...group, value: only.aln }, suffix), 302);
  const found = exact !== undefined && isState ? await reader.describe(visitor, criteria) : undefined;
  const context = await describeContext(request);
  const isKnown = found !== undefined && found.years.length > 0;
  if (!isKnown) {
    const page =
      exact !== undefined && typedState !== ""
        ? writeNotInState(context, group, typedState)
        : writeUnknownGroup(context, group, { related: found?.related, ...named });
    return sendPage(request, reply, page, { status: 404 });
  }
  if (chart !== undefined) {
    const drawn = writeGroupChart(context, group, found, chart);
    if (drawn !== undefined) return sendSvg(request, reply, drawn);
    reply.callNotFound();
    return reply;
  }
  if (suffix === "") return sendPage(request, reply, writeGroup(context, group, found));
  const ofState = isInState(group);
  return sendSpreadsheet(request, reply, context, {
    name: [kind, value, ofState && state],
    columns: [
      groupColumns[kind],
      ...(ofState ? ["auditee_state"] : []),
      "audit_year",
      "amount_expended",
      "findings",
      "material_weaknesses",
    ],
    rows: found.years.map((year) => ({ ...year, auditee_state: state, [groupColumns[kind]]: value })),
  });
}

/** The columns that name a program, an agency and a state, as in the API's tables of totals. */
const groupColumns = { program: "aln", agency: "federal_agency_prefix", state: "auditee_state" } as const;

/** The columns of the CSV file: those of the API's table, and names of other tables. A finding's programs are in the order of their numbers. */
const columns = [
  "report_id",
  "reference_number",
  "auditee_name",
  "auditee_uei",
  "auditee_ein",
  "auditee_city",
  "auditee_state",
  "entity_type",
  "audit_year",
  "fac_accepted_date",
  "alns",
  "federal_program_name",
  "type_requirement",
  "is_material_weakness",
  "is_significant_deficiency",
  "is_modified_opinion",
  "is_other_matters",
  "is_other_findings",
  "is_questioned_costs",
  "is_repeat_finding",
  "prior_finding_ref_numbers",
  "is_direct",
  "awards",
  "amount_expended",
  "matching_awards",
  "matching_amount_expended",
  "auditor_firm_name",
  "address",
];
