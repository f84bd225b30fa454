/** Excel reads a CSV file as UTF-8 only if it starts with a byte-order mark. */
export const byteOrderMark = "\ufeff";
const cell = /"(?:[^"]+|"")*"|[^,"\n]+/g;
/** Codes such as 043015799, 10.010 and 2023-001, which programs would take for numbers or dates. */
const code = /^"?(0\d+|\d+\.\d*0|\d+e\d+|\d{4}-\d{1,3})"?$/i;
/** How formulas begin (OWASP, CSV injection). Negative numbers are no formulas. */
const formula = /^"?(?!-?\d+(?:\.\d+)?"?$)[=+\-@＝＋－＠\t\r\n]/;

/**
 * Changes CSV so that spreadsheet programs show what the API says: a text that begins like a formula gets an apostrophe in front,
 * and a code becomes `="043015799"`.
 */
export function adaptForSpreadsheets(csv: string): string {
  return csv.replace(cell, (text) =>
    formula.test(text) ? text.replace(/^"?/, "$&'") : text.replace(code, '"=""$1"""'),
  );
}
