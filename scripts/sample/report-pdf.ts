import { pipeline } from "node:stream/promises";
import PDFDocument from "pdfkit";
import { formatDollars } from "./narratives.ts";
import { type Cells, type Column, clip, drawTable, MARGIN, ROW, startPage, WIDTH } from "./pdf-table.ts";
import { toWinAnsi } from "./win-ansi.ts";

export type { Cells };

export type Report = { general: Cells; awards: readonly Cells[]; findings?: readonly Cells[] };

const AWARDS_SHOWN = 60;
const FINDINGS_SHOWN = 40;
const AWARD_COLUMNS: readonly Column[] = [
  { title: "Award", width: 11, value: (row) => show(row.award_reference) },
  {
    title: "Number",
    width: 9,
    value: (row) => [row.federal_agency_prefix, row.federal_award_extension].map(show).join("."),
  },
  { title: "Federal program", width: 48, value: (row) => show(row.federal_program_name) },
  { title: "Major", width: 5, value: (row) => show(row.is_major) },
  { title: "Direct", width: 6, value: (row) => show(row.is_direct) },
  { title: "Expended", width: 20, align: "right", value: (row) => showDollars(row.amount_expended) },
];

const FINDING_COLUMNS: readonly Column[] = [
  { title: "Finding", width: 11, value: (row) => show(row.reference_number) },
  { title: "Award", width: 11, value: (row) => show(row.award_reference) },
  { title: "Requirement", width: 15, value: (row) => show(row.type_requirement) },
  { title: "What it is", width: 64, value: describeFinding },
];

/**
 * Writes a readable PDF of a report: who, when, its awards and its findings, the first of each. The same report
 * gives the same bytes. A row of `general` alone is enough.
 */
export async function writeReportPdf(report: Report, writable: NodeJS.WritableStream): Promise<void> {
  const { general, awards, findings = [] } = report;
  const date = show(general.fac_accepted_date) || show(general.fy_end_date) || "1970-01-01";
  const pdf = new PDFDocument({
    size: "LETTER",
    margin: MARGIN,
    autoFirstPage: false,
    font: "Courier",
    info: {
      Title: `Single Audit report ${show(general.report_id)}`,
      CreationDate: new Date(`${date.slice(0, 10)}T00:00:00Z`),
    },
  });
  startPage(pdf);
  pdf.font("Courier-Bold").fontSize(17).text("Single Audit report", MARGIN, MARGIN);
  pdf.fontSize(12).text(toWinAnsi(show(general.auditee_name) || "Auditee not named"), { width: WIDTH });
  let y = drawFacts(pdf, pdf.y + 8, listFacts(general));
  y = drawTable(
    pdf,
    y + 14,
    "Schedule of expenditures of federal awards",
    AWARD_COLUMNS,
    awards,
    AWARDS_SHOWN,
  );
  drawTable(pdf, y + 14, "Findings", FINDING_COLUMNS, findings, FINDINGS_SHOWN);
  pdf.end();
  await pipeline(pdf, writable);
}

function listFacts(general: Cells): [string, string][] {
  const period = [general.fy_start_date, general.fy_end_date].map(show).filter(Boolean).join(" to ");
  const place = [general.auditee_city, general.auditee_state, general.auditee_zip]
    .map(show)
    .filter(Boolean)
    .join(", ");
  const facts: [string, string][] = [
    ["Report ID", show(general.report_id)],
    ["Audit year", show(general.audit_year)],
    ["Fiscal period", period],
    ["Accepted", show(general.fac_accepted_date)],
    ["UEI, EIN", [general.auditee_uei, general.auditee_ein].map(show).filter(Boolean).join(", ")],
    ["Auditee", place],
    ["Kind of entity", show(general.entity_type)],
    ["Auditor", show(general.auditor_firm_name)],
    ["Opinions", show(general.gaap_results).replaceAll("_", " ").replaceAll(",", ", ")],
    ["Total expended", showDollars(general.total_amount_expended)],
  ];
  return facts.filter(([, value]) => value !== "");
}

function drawFacts(
  pdf: PDFKit.PDFDocument,
  top: number,
  facts: readonly (readonly [string, string])[],
): number {
  pdf.font("Courier").fontSize(9);
  facts.forEach(([name, value], i) => {
    const line = clip(name.padEnd(16) + toWinAnsi(value), 93);
    pdf.text(line, MARGIN, top + i * ROW, { lineBreak: false });
  });
  return top + facts.length * ROW;
}

function describeFinding(row: Cells): string {
  const kinds: readonly (readonly [string, string])[] = [
    ["is_material_weakness", "material weakness"],
    ["is_significant_deficiency", "significant deficiency"],
    ["is_modified_opinion", "modified opinion"],
    ["is_questioned_costs", "questioned costs"],
    ["is_repeat_finding", "repeated"],
  ];
  return (
    kinds
      .filter(([column]) => row[column] === "Y")
      .map(([, kind]) => kind)
      .join(", ") || "other"
  );
}

function show(value: Cells[string]): string {
  return value === null || value === undefined ? "" : String(value);
}

function showDollars(value: Cells[string]): string {
  const amount = Number(show(value) || Number.NaN);
  return Number.isFinite(amount) ? formatDollars(amount) : "";
}
