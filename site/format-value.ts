import { agencies } from "./names.ts";

/** Whether a column contains dollars. */
export const isMoney = (column: string): boolean => /amount|balance|dollar|_total$/.test(column);
/** Whether a column contains agencies, as the first two digits of Assistance Listing numbers, or whole numbers. */
export const isAgency = (column: string): boolean => /^aln$|agency_prefix|_agency$|^agencies_/.test(column);

/** Formats a value for people: dollars, agency names, the words of codes, and the number of embedded rows. */
export function formatValue(
  column: string,
  value: unknown,
  words: Readonly<Record<string, string>> = {},
): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "number") {
    const dollars = { style: "currency", currency: "USD", maximumFractionDigits: 0 } as const;
    return value.toLocaleString("en-US", isMoney(column) ? dollars : {});
  }
  if (value === "GSA_MIGRATION") return "GSA_MIGRATION (this older record has no value)";
  if (Array.isArray(value)) return formatList(value);
  if (typeof value === "object") return Object.values(value).map(String).join(" · ");
  const text = String(value);
  const spelled = spellCodes(text, words);
  if (spelled !== undefined) return spelled;
  if (yesOrNo.has(text)) return yesOrNo.get(text) ?? text;
  if (!isAgency(column)) return text;
  const codes = text.split(",");
  return codes.map((code) => (code === "00" ? "None" : `${code} ${agencies[code] ?? ""}`.trim())).join(", ");
}

function formatList(values: unknown[]): string {
  if (values.length === 0) return "none shown";
  return values.every((each) => typeof each === "string") ? values.join(", ") : `${values.length} shown`;
}

const yesOrNo = new Map([
  ["Y", "Yes"],
  ["N", "No"],
  ["true", "Yes"],
  ["false", "No"],
]);

/** Says what codes mean: one code, several with commas between them, or letters. Undefined if one is unknown. */
function spellCodes(text: string, words: Readonly<Record<string, string>>): string | undefined {
  const codes = Object.hasOwn(words, text) ? [text] : text.includes(",") ? text.split(/[\s,]+/) : [...text];
  return codes.every((code) => Object.hasOwn(words, code))
    ? codes.map((code) => words[code]).join("; ")
    : undefined;
}
