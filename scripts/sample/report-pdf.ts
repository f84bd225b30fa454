/** A row of general as a CSV file has it. Every column except the report's ID may be missing. */
export type GeneralRow = { report_id: string } & Readonly<Record<string, string | undefined>>;

const facts: readonly (readonly [label: string, column: string])[] = [
  ["Report ID", "report_id"],
  ["Auditee", "auditee_name"],
  ["Audit year", "audit_year"],
  ["Fiscal year end", "fy_end_date"],
  ["Accepted", "fac_accepted_date"],
  ["Auditor", "auditor_firm_name"],
  ["Dollars expended", "total_amount_expended"],
];
const footer =
  "Sample document made from the published columns of the submission. This is not the report that was filed.";

/** A one-page PDF about a report. */
export function describeReport(row: GeneralRow): Buffer {
  const lines = facts.map(([label, column]) => `${label}: ${row[column] ?? ""}`);
  const content = [
    ...["BT", "/F1 18 Tf", "54 720 Td", `(${encode("Single Audit report")}) Tj`, "/F1 11 Tf"],
    ...["", ...lines, "", footer].map((line) => `0 -18 Td (${encode(line)}) Tj`),
    "ET",
  ].join("\n");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Title (${encode(`Single Audit report ${row.report_id}`)}) >>`,
  ];
  let text = "%PDF-1.4\n";
  let index = "0000000000 65535 f \n";
  for (const [number, object] of objects.entries()) {
    index += `${String(text.length).padStart(10, "0")} 00000 n \n`;
    text += `${number + 1} 0 obj\n${object}\nendobj\n`;
  }
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n${index}trailer\n<< /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/** The standard fonts have Latin-1: other letters lose their accents, and what is left becomes a question mark. */
function encode(text: string): string {
  return Array.from(text, (character) =>
    character <= "ÿ" ? character : character.normalize("NFKD").replace(/[^\u0020-\u007e]/gu, "") || "?",
  )
    .join("")
    .replace(/[\\()]/g, "\\$&")
    .replace(/\s+/g, " ");
}
