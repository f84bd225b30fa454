import { agencies } from "./names.ts";

/** Whether a column contains dollars. */
export const isMoney = (column: string): boolean => /amount|balance|dollar|_total$/.test(column);
/** Whether a column contains agencies, as the first two digits of Assistance Listing numbers, or whole numbers. */
export const isAgency = (column: string): boolean => /^aln$|agency_prefix|_agency$|^agencies_/.test(column);

/** Formats a value for people: dollars, agency names, and the number of embedded rows. */
export function formatValue(column: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "number") {
    const dollars = { style: "currency", currency: "USD", maximumFractionDigits: 0 } as const;
    return value.toLocaleString("en-US", isMoney(column) ? dollars : {});
  }
  if (value === "GSA_MIGRATION") return "GSA_MIGRATION (this older record has no value)";
  if (Array.isArray(value)) return value.length === 0 ? "none shown" : `${value.length} shown`;
  if (typeof value === "object") return Object.values(value).map(String).join(" · ");
  if (!isAgency(column)) return String(value);
  const codes = String(value).split(",");
  return codes.map((code) => (code === "00" ? "None" : `${code} ${agencies[code] ?? ""}`.trim())).join(", ");
}
