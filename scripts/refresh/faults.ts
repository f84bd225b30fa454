/** What is wrong with one row of a source file. */
export interface Fault {
  /** Number of the file, in the order in which files are read. */
  file: number;
  /** A line of the record; in the end the one that it begins on. */
  line: number;
  column?: string | undefined;
  value?: string | undefined;
  problem: string;
}

/** Faults of a load: all are counted, the first ones are kept. */
export interface FaultList {
  counts: Map<string, number>;
  total: number;
  first: Fault[];
}

/** How many faults are shown. */
export const shownFaults = 20;

/** The source files hold rows that cannot be published. Its message names the first of them, and counts. */
export class SourceFaults extends Error {
  override name = "SourceFaults";
  readonly total: number;

  constructor(list: FaultList, paths: string[], tolerate: number) {
    const tolerated = tolerate > 0 ? `, and ${tolerate} are tolerated` : "";
    const lines = [
      `${countRows(list.total)} cannot be published${tolerated}. Nothing has changed.`,
      ...list.first.slice(0, shownFaults).map((fault) => `  ${describeFault(fault, paths)}`),
      ...(list.total > shownFaults ? [`  … and ${list.total - shownFaults} more.`] : []),
      ...[...list.counts].map(([what, count]) => `${countRows(count)}: ${what}`),
      ...(tolerate < list.total
        ? [`--tolerate ${list.total} would publish the rest, and keep these in a file.`]
        : []),
    ];
    super(lines.join("\n"));
    this.total = list.total;
  }
}

export function createFaultList(): FaultList {
  return { counts: new Map(), total: 0, first: [] };
}

/** Counts a fault by table and kind, and keeps it while fewer than `keep` are kept. */
export function addFault(list: FaultList, table: string, fault: Fault, keep: number): void {
  countFaults(list, nameKind(table, fault), 1);
  if (list.first.length < keep) list.first.push(fault);
}

export function countFaults(list: FaultList, kind: string, count: number): void {
  list.counts.set(kind, (list.counts.get(kind) ?? 0) + count);
  list.total += count;
}

export function nameKind(table: string, { column, problem }: Pick<Fault, "column" | "problem">): string {
  return column === undefined ? `${table}: ${problem}` : `${table}, column ${column}: ${problem}`;
}

/** `file:line: column auditee_name, value "…": what is wrong`. */
export function describeFault({ file, line, column, value, problem }: Fault, paths: string[]): string {
  const where = [
    ...(column === undefined ? [] : [`column ${column}`]),
    ...(value === undefined ? [] : [`value ${JSON.stringify(value)}`]),
  ].join(", ");
  return `${paths[file]}:${line}: ${where === "" ? "the row" : `${where}`} ${problem}`;
}

export function countRows(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}
