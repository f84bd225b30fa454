import { toWinAnsi } from "./win-ansi.ts";

/** A row of a table by column name, as read from a file or the API. Any column may be missing. */
export type Cells = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** `x` and `width` in points, from the left margin. */
export type Column = {
  title: string;
  x: number;
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
  makeRoom(4 * ROW);
  pdf.font("Helvetica-Bold").fontSize(11).text(title, MARGIN, y, { lineBreak: false });
  y += 18;
  pdf.fontSize(8);
  if (rows.length > 0) drawRow(pdf, y, columns, (column) => column.title);
  y += rows.length > 0 ? ROW : 0;
  pdf.font("Helvetica");
  for (const row of rows.slice(0, limit)) {
    makeRoom(ROW);
    pdf.font("Helvetica").fontSize(8);
    drawRow(pdf, y, columns, (column) => toWinAnsi(column.value(row)));
    y += ROW;
  }
  const rest =
    rows.length > limit ? `and ${rows.length - limit} more` : rows.length === 0 ? "None on record." : "";
  if (rest === "") return y;
  makeRoom(ROW);
  pdf.font("Helvetica").fontSize(8).text(rest, MARGIN, y, { lineBreak: false });
  return y + ROW;
}

function drawRow(
  pdf: PDFKit.PDFDocument,
  y: number,
  columns: readonly Column[],
  write: (column: Column) => string,
): void {
  for (const column of columns) {
    const text = write(column);
    const indent = column.align === "right" ? column.width - pdf.widthOfString(text) : 0;
    pdf.text(text, MARGIN + column.x + indent, y, { lineBreak: false });
  }
}

/** Begins a page, which says at its foot what it is. */
export function startPage(pdf: PDFKit.PDFDocument): void {
  pdf.addPage();
  pdf
    .font("Helvetica")
    .fontSize(7)
    .text(FOOTER, MARGIN, BOTTOM + 4, { lineBreak: false });
}
