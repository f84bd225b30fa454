import type { Auditee, AuditeeReport } from "../auditee.ts";
import { readChangesFilter } from "../changes-filter.ts";
import { askForUei, explainUei, isEin, isUei } from "../check/read-list.ts";
import { count, entityTypes } from "../finding-words.ts";
import { linkFindings } from "../findings/read-criteria.ts";
import { capitalize, formatMoney, formatNumber, nameYear, writeEasternDate } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery, largestLimit, type Query } from "../query.ts";
import { cut } from "../search/words.ts";
import { type SimilarId, writeSimilar } from "../similar-ids.ts";
import {
  cleanNote,
  describeVerdict,
  explainPastDue,
  isClean,
  judgeDue,
  listResult,
  resultColumns,
  writeDueBadge,
  writeVerdict,
} from "../verdict.ts";
import { linkToExplorer, writeExtra } from "../write-target.ts";
import { drawBar } from "./charts.ts";
import { writeExtract } from "./extract.ts";
import { scroll, table, writeDocument } from "./layout.ts";
import { writeNotFound } from "./problem.ts";
import { linkToAuditee, linkToAuditor } from "./report.ts";

/** The page of an auditee: its public reports by year, compared with its peers, and reports that name it. */
export function writeAuditee(context: PageContext, id: string, auditee: Auditee): string {
  const [newest] = auditee.reports;
  const name = newest?.auditee_name || `Auditee ${id}`;
  const label = nameId(id);
  return writeDocument(context, {
    title: name,
    description: `Public single audit reports of ${name}, by year.`,
    feed: readChangesFilter({ u: id })?.search,
    body: html`<div class="wrap page">
<h1>${name}</h1>
<p>${newest && describeAuditee(newest)} ${label} <code class="id">${id}</code></p>
${newest ? writeYears(id, auditee.reports) : html`<p class="lead">It has no public report of its own.</p>`}
${writePeers(auditee.reports)}
${writeAdditional(auditee, label)}
${writeAuditeeExtract(context, { id, name, label }, auditee)}
</div>`,
  });
}

const nameId = (id: string): string => (/^\d+$/.test(id) ? "EIN" : "UEI");

/** The page for a UEI or EIN that no public report has. */
export function writeUnknownAuditee(context: PageContext, typed: string, similar: SimilarId[]): string {
  return writeNotFound(context, "No public report has this UEI or EIN", [
    writeSimilar(similar),
    adviseOnAuditee(context, typed, similar),
  ]);
}

/** Says what may be wrong with a UEI or EIN that no public report has. One of suppressed reports is like an unknown one. */
export function adviseOnAuditee({ facts }: PageContext, typed: string, similar: SimilarId[]): Html {
  const id = typed.replace("-", "").toUpperCase();
  if (!isUei(id) && !isEin(id))
    return html`<p><code class="id">${cut(typed, 60)}</code> is neither a UEI, which has 12 letters and digits, nor an EIN, which has 9 digits.</p>`;
  const filter = {
    column: id.length === 9 ? "auditee_ein" : "auditee_uei",
    operator: "eq",
    value: id,
  } as const;
  const explorer = linkToExplorer(facts?.api[0]?.schema ?? "", { ...emptyQuery, filters: [filter] });
  const mistyped = id.length === 12 && explainUei(id);
  return html`<p>${
    mistyped
      ? html`<code class="id">${id}</code> is ${mistyped}${similar.length > 0 ? "." : `: ${askForUei(id)}`}`
      : html`Either <code class="id">${typed}</code> is in no report, or its reports are suppressed or too old to have it. Check
  the ${id.length === 12 ? "letters and digits" : "digits"}, or search for the auditee’s name.`
  } If you have a Tribal key,
  <a href="${explorer}">look for it in the explorer</a>, and enter the key there.</p>`;
}

function describeAuditee({
  entity_type: type,
  auditee_city: city,
  auditee_state: state,
}: AuditeeReport): string {
  const place = [city, states[state ?? ""] ?? state].filter(Boolean).join(", ");
  const parts = [entityTypes[type ?? ""], place].filter(Boolean).join(" in ");
  return parts === "" ? "" : `${capitalize(parts)}.`;
}

/** A row for each report, and for each year without one. */
function writeYears(id: string, reports: AuditeeReport[]): Html {
  const label = nameId(id);
  const today = writeEasternDate(new Date());
  const most = (of: (report: AuditeeReport) => number) => Math.max(1, ...reports.map(of));
  const mostExpended = most((report) => report.total_amount_expended ?? 0);
  const mostFindings = most((report) => report.counts.findings);
  const names = new Set(reports.map((report) => report.auditee_name));
  const headings = [
    "Audit year",
    "Result",
    { text: "Findings", isNumber: true },
    { text: "Material weaknesses", isNumber: true },
    { text: "Repeat", isNumber: true },
    { text: "Expended", isNumber: true },
    "Auditor",
    "Accepted",
  ];
  const number = (value: number) => formatNumber(value);
  const rows = listYears(reports).map(({ year, report, isCovered }) => {
    if (report === undefined)
      return {
        cells: [
          year,
          isCovered ? "covered by the next report" : `no public report has this ${label}`,
          ...Array<string>(headings.length - 2).fill(""),
        ],
      };
    const { counts, total_amount_expended: expended } = report;
    const auditor = linkToAuditor(report);
    return {
      cells: [
        [
          html`<a href="/record/${report.report_id}">${year}</a>`,
          names.size > 1 && html`<span class="hint">${report.auditee_name}</span>`,
          label === "UEI" &&
            report.auditee_uei !== id &&
            html`<span class="hint">has no UEI, found by its EIN</span>`,
          describeFiling(report, reports) || html`<span class="print-only">${report.report_id}</span>`,
        ],
        writeVerdict(withCounts(report)),
        [number(counts.findings), drawBar(counts.findings / mostFindings)],
        number(counts.material_weaknesses),
        number(counts.repeat_findings),
        expended === null ? "not stated" : [formatMoney(expended), drawBar(expended / mostExpended)],
        auditor === undefined
          ? "not stated"
          : html`<a href="${auditor}">${report.auditor_firm_name || "not stated"}</a>`,
        writeAccepted(report, today),
      ],
    };
  });
  const [newest] = reports;
  const verdicts = reports.map((report) => isClean(withCounts(report)));
  const clean = verdicts.filter((verdict) => verdict === true).length;
  const unstated = verdicts.filter((verdict) => verdict === undefined).length;
  const findings = reports.reduce((sum, { counts }) => sum + counts.findings, 0);
  const title = "Public reports by year";
  return html`<p class="lead">${formatNumber(clean)} of ${count(reports.length, "public report")} ${clean === 1 || reports.length === 1 ? "is" : "are"} clean.
  ${unstated > 0 && `${count(unstated, "report")} without findings ${unstated === 1 ? "states" : "state"} no opinion.`}
  ${newest && html`The newest${newest.audit_year && `, of ${newest.audit_year}`}: ${describeVerdict(withCounts(newest))}.`}</p>
${findings > 0 && html`<p><a href="${linkFindings({ auditee: id })}">${nameAllFindings(findings, reports)}</a></p>`}
<section aria-labelledby="years"><h2 id="years">${title}</h2>
${names.size > 1 && html`<p>The reports have several names, because the auditee changed its name or several auditees share the ${label}.</p>`}
<p class="hint">${cleanNote}${reports.some(({ management_decision_due: due }) => due !== null) && ` ${explainPastDue(today)}`}</p>
${scroll(title, table(title, headings, rows))}
${reports.length === 100 && html`<p>Only the newest 100 reports are shown.</p>`}</section>`;
}

/** "Its 4 findings in all years, with texts and plans" */
function nameAllFindings(findings: number, reports: AuditeeReport[]): string {
  const years = reports.length > 1 ? " in all years" : "";
  return findings === 1
    ? `Its only finding${years}, with text and plan`
    : `Its ${count(findings, "finding")}${years}, with texts and plans`;
}

/** When a report was accepted, and when the management decision on its findings is due. */
const writeAccepted = (
  { fac_accepted_date: accepted, management_decision_due: due }: AuditeeReport,
  today: string,
): Html =>
  html`<span class="unbroken">${accepted ?? "not stated"}</span>${due && html` <span class="hint">management decision due <span class="unbroken">${due}</span></span>${writeDueBadge(due, today)}`}`;

/** Tells a report from others of the same year. */
function describeFiling(report: AuditeeReport, reports: AuditeeReport[]): Content {
  const { fy_end_date: end, report_id: id, resubmission_version: version } = report;
  const isAlone = reports.every((other) => other === report || other.audit_year !== report.audit_year);
  return (
    !isAlone &&
    html`<span class="hint">${version > 1 && "resubmitted, "}${end && html`fiscal year ended <span class="unbroken">${end}</span>, `}<code class="id">${id}</code></span>`
  );
}

const withCounts = (report: AuditeeReport) => ({ ...report, ...report.counts });

interface Year {
  year: string;
  report?: AuditeeReport;
  /** Whether the next report covers two years. */
  isCovered?: boolean;
}

/** The years of the reports, newest first, with those between them that have none. */
function listYears(reports: AuditeeReport[]): Year[] {
  return reports.flatMap((report, index): Year[] => {
    const year = Number(report.audit_year);
    const next = Number(reports[index + 1]?.audit_year ?? year);
    const missing = Math.min(Math.max(0, year - next - 1), 20) || 0;
    return [
      { year: report.audit_year ?? "not stated", report },
      ...Array.from({ length: missing }, (_, each) => ({
        year: String(year - each - 1),
        isCovered: each === 0 && report.audit_period_covered === "biennial",
      })),
    ];
  });
}

const describeSize = ({
  expended_from: from,
  expended_to: to,
}: NonNullable<AuditeeReport["size"]>): string =>
  to === null
    ? `${formatMoney(from)} or more`
    : from === 0
      ? `less than ${formatMoney(to)}`
      : `${formatMoney(from)} to ${formatMoney(to)}`;

type Peers = NonNullable<AuditeeReport["peers"]>;
/** Whether the group is of the same kind and size, as in the API. */
const isExact = ({ entity_type: type, expended_from: from }: Peers): boolean =>
  type !== null && from !== null;

/** "local government, $1,000,000 to $3,000,000 expended", "local government of all sizes" */
function describePeers({ entity_type: type, expended_from: from, expended_to: to }: Peers): string {
  const kind = type === null ? "all kinds of auditees" : (entityTypes[type] ?? type);
  return from === null
    ? `${kind} of all sizes`
    : `${kind}, ${describeSize({ expended_from: from, expended_to: to })} expended`;
}

/** Compares the findings of each report with those of similar auditees. */
function writePeers(reports: AuditeeReport[]): Content {
  const rows = reports.map((report) => {
    const { peers, counts } = report;
    const year = [report.audit_year ?? "not stated", describeFiling(report, reports)];
    const findings = formatNumber(counts.findings);
    const reason = explainWiderPeers(report);
    if (peers === null)
      return { cells: [year, `no comparison: ${reason}${describeNewestPeers(report)}`, findings, "–", "–"] };
    const { submissions, fewer, more } = peers;
    return {
      cells: [
        year,
        [
          `${describePeers(peers)}: ${formatNumber(submissions)} reports`,
          !isExact(peers) && html` <span class="hint">because ${reason}</span>`,
        ],
        findings,
        formatNumber(peers.median),
        `${formatNumber(fewer)} have fewer, ${formatNumber(submissions - fewer - more)} as many, ${formatNumber(more)} more`,
      ],
    };
  });
  const title = "Findings compared with similar auditees";
  const headings = [
    "Audit year",
    "Compared with",
    { text: "Findings", isNumber: true },
    { text: "Median", isNumber: true },
    "Of these reports",
  ];
  return (
    reports.length > 0 &&
    html`<section aria-labelledby="peers"><h2 id="peers">${title}</h2>
<p>Counts public reports, including this auditee’s own. Each group has at least 20 reports: those of auditees of the same kind and size, or
else of the same kind, or else of the same size.${
      reports.some(({ entity_type: type }) => type === "local") &&
      html` “Local government” includes cities, counties, school districts and special districts, which the data does not tell apart.`
    }</p>
${scroll(title, table(title, headings, rows))}</section>`
  );
}

/** Why a report is not compared with auditees of its kind and size. */
function explainWiderPeers({ entity_type: type, size, audit_year: year }: AuditeeReport): string {
  if (year === null) return "the report states no audit year";
  if (type === null || type === "unknown" || entityTypes[type] === undefined)
    return "the report does not state what kind of auditee it is";
  if (size === null) return "the report states no amount of federal awards expended";
  return `fewer than 20 public reports of ${year} are from auditees of this kind (${entityTypes[type]}) and size (${describeSize(size)} expended)`;
}

const describeNewestPeers = ({ newest_peers: newest }: AuditeeReport): string =>
  newest === null
    ? ""
    : `. The newest year with 20 or more is ${newest.audit_year}: the median of its ${formatNumber(newest.submissions)} reports is ${formatNumber(newest.median)} ${newest.median === 1 ? "finding" : "findings"}`;

function writeAdditional({ additional }: Auditee, label: string): Content {
  const links = additional.map(
    (
      report,
    ) => html`<li><a href="/record/${report.report_id}">${report.auditee_name || report.report_id}, ${nameYear(report.audit_year)}</a>
  ${linkToAuditee(report) && html`(<a href="${linkToAuditee(report)}">all years</a>)`}</li>`,
  );
  return (
    links.length > 0 &&
    html`<section aria-labelledby="additional"><h2 id="additional">Reports that name it as an additional ${label}</h2>
<ul>${links}</ul></section>`
  );
}

function writeAuditeeExtract(
  context: PageContext,
  { id, name, label }: { id: string; name: string; label: string },
  { reports, additional }: Auditee,
): Html {
  const [newest] = reports;
  const where = (column: string, value: string) => ({ column, operator: "eq", value }) as const;
  const of = (table: string, ...filters: Query["filters"]): Query => ({ ...emptyQuery, table, filters });
  const own = where(label === "EIN" ? "auditee_ein" : "auditee_uei", id);
  // Reports without a UEI are not found by it.
  const isComplete = label === "EIN" || reports.every((report) => report.auditee_uei === id);
  const listedIds = reports.map((report) => report.report_id).join("\n");
  const byIds = { column: "report_id", operator: "in", value: listedIds } as const;
  const peers = writePeersQuery(reports);
  const listed = [
    newest && {
      name: "Reports",
      csv: `/auditee/${id}.csv`,
      query: {
        ...of("general", isComplete ? own : byIds),
        order: ["audit_year.desc", "fac_accepted_date.desc", "report_id.desc"],
      },
    },
    newest && {
      name: "Findings",
      csv: linkFindings({ auditee: id }, 1, "/findings.csv"),
      query: {
        ...of("finding_summaries", label === "UEI" && isComplete ? own : byIds),
        limit: largestLimit,
      },
    },
    peers && { name: "Counts of its peers’ reports by number of findings, with the median", query: peers },
    additional.length > 0 && {
      name: `Reports that name the additional ${label}`,
      query: of(
        label === "EIN" ? "additional_eins" : "additional_ueis",
        where(label === "EIN" ? "additional_ein" : "additional_uei", id),
      ),
    },
  ];
  return writeExtract(context, {
    title: `Single audits of ${name} (${label} ${id})`,
    path: `/auditee/${id}`,
    changes: readChangesFilter({ u: id }),
    rows: listed.filter((rows) => rows !== false && rows !== undefined && rows !== null),
  });
}

/** A request for the groups of the same kind and size with which the reports are compared. An address has room for the newest 30. */
function writePeersQuery(reports: AuditeeReport[]): Query | undefined {
  const groups = reports.flatMap(({ audit_year: year, entity_type: type, peers }) =>
    peers && isExact(peers)
      ? [`and(audit_year.eq.${year},entity_type.eq.${type},expended_from.eq.${peers.expended_from})`]
      : [],
  );
  if (groups.length === 0) return undefined;
  return {
    ...emptyQuery,
    table: "totals_by_peers",
    extra: writeExtra([["or", `(${[...new Set(groups)].slice(0, 30).join(",")})`]]),
    limit: largestLimit,
  };
}

/** The columns of an auditee's CSV file. */
export const reportColumns = [
  "audit_year",
  "report_id",
  "auditee_name",
  "auditee_uei",
  "auditee_ein",
  "fy_end_date",
  "fac_accepted_date",
  "management_decision_due",
  "management_decision_state",
  "total_amount_expended",
  ...resultColumns,
  "findings",
  "material_weaknesses",
  "significant_deficiencies",
  "findings_with_questioned_costs",
  "repeat_findings",
  "peers",
  "median_findings_of_peers",
  "peers_with_fewer_findings",
  "peers_with_more_findings",
  "compared_with",
  "auditor_firm_name",
  "auditor_ein",
] as const;

/** The rows of an auditee's CSV file. */
export function listReportRows({ reports }: Auditee): Record<string, unknown>[] {
  const today = writeEasternDate(new Date());
  return reports.map((report) => ({
    ...report,
    ...report.counts,
    management_decision_state:
      report.counts.findings > 0 ? judgeDue(report.management_decision_due, today) : undefined,
    ...listResult(withCounts(report)),
    findings_with_questioned_costs: report.counts.questioned_costs,
    peers: report.peers?.submissions,
    median_findings_of_peers: report.peers?.median,
    peers_with_fewer_findings: report.peers?.fewer,
    peers_with_more_findings: report.peers?.more,
    compared_with: report.peers ? describePeers(report.peers) : undefined,
  }));
}
