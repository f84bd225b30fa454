import { toWinAnsi } from "./win-ansi.ts";

/** A row of a table by column name, as read from a file or the API. Any column may be missing. */
export type Cells = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** `width` in characters: each of Courier is as wide as any other. */
export type Column = {
  title: string;
  width: number;
  align?: "right";
  value: (row: Cells) => string;
};

/** Points, on letter paper. */
export const MARGIN = 54;
export const WIDTH = 612 - 2 * MARGIN;
export const ROW = 13;
const BOTTOM = 792 - MARGIN - 14;

const FOOTER =
  "Generated sample document, made from the published columns of the submission. Not the report that was filed.";

/** Draws the first rows, on new pages where needed, and says how many are left out. Returns where it ended. */
export function drawTable(
  pdf: PDFKit.PDFDocument,
  top: number,
  title: string,
  columns: readonly Column[],
  rows: readonly Cells[],
  limit: number,
): number {
  let y = top;
  const makeRoom = (height: number) => {
    if (y + height <= BOTTOM) return;
    startPage(pdf);
    y = MARGIN;
  };
  const write = (text: string) => {
    makeRoom(ROW);
    pdf.font("Courier").fontSize(8).text(text, MARGIN, y, { lineBreak: false });
    y += ROW;
  };
  makeRoom(4 * ROW);
  pdf.font("Courier-Bold").fontSize(11).text(title, MARGIN, y, { lineBreak: false });
  y += 18;
  if (rows.length > 0) write(layOut(columns, ({ title }) => title));
  for (const row of rows.slice(0, limit)) write(layOut(columns, ({ value }) => value(row)));
  if (rows.length > limit) write(`and ${rows.length - limit} more`);
  if (rows.length === 0) write("None on record.");
  return y;
}

/** A line with the columns below those of other lines. */
function layOut(columns: readonly Column[], write: (column: Column) => string): string {
  const cells = columns.map((column) => {
    const text = clip(toWinAnsi(write(column)), column.width);
    return column.align === "right" ? text.padStart(column.width) : text.padEnd(column.width);
  });
  return cells.join(" ").trimEnd();
}

/** Begins a page, which says at its foot what it is. */
export function startPage(pdf: PDFKit.PDFDocument): void {
  pdf.addPage();
  pdf
    .font("Courier")
    .fontSize(7)
    .text(FOOTER, MARGIN, BOTTOM + 4, { lineBreak: false });
}

export function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
