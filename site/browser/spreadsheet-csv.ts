import { isMoney } from "./format-value.ts";

/** Excel reads a CSV file as UTF-8 only if it starts with a byte-order mark. */
export const byteOrderMark = "\ufeff";
const cells = /("[^"]*(?:""[^"]*)*"|[^,"\n]*)([,\n]|$)/g;
/** Columns of codes that spreadsheets would read as numbers or dates, such as 043015799, 10.010 and 2023-001. */
const codes =
  /(^|_)(ein|uei|zip(code)?|phone|extension|identification|passthrough_id|ref(erence)?_numbers?)$|agenc/;
/** Values of other columns that spreadsheets would read as numbers or dates. */
const code = /^"?(0\d+|\d+\.\d*0|\d+e\d+|\d{4}-\d{1,3})"?$/i;
/** How formulas begin (OWASP, CSV injection). Negative numbers are not formulas. */
const formula = /^"?(?!-?\d+(?:\.\d+)?"?$)[=+\-@＝＋－＠\t\r\n]/;

/**
 * Changes CSV so that spreadsheets show the API's values: a text that begins like a formula gets an apostrophe before
 * it, codes are written like `="043015799"`, and `t` becomes `true` in `is_public`.
 */
export function adaptForSpreadsheets(csv: string): string {
  const start = csv.indexOf("\n") + 1;
  const names = csv.slice(0, start).trimEnd().split(",");
  let index = 0;
  const rows = csv.slice(start).replace(cells, (_whole, text: string, separator: string) => {
    const name = names[index] ?? "";
    index = separator === "," ? index + 1 : 0;
    return adaptCell(name, text) + separator;
  });
  return csv.slice(0, start) + rows;
}

function adaptCell(name: string, text: string): string {
  if (formula.test(text)) return text.replace(/^"?/, "$&'");
  if (name === "is_public") return text.replace(/^t$/, "true").replace(/^f$/, "false");
  if (isMoney(name)) return text;
  // A formula can contain no line break and at most 255 characters of text.
  const isCode = codes.test(name) && /^"?[^"\n]{1,250}"?$/.test(text);
  return isCode || code.test(text) ? text.replace(/^"?(.*?)"?$/, '"=""$1"""') : text;
}
