import { open } from "node:fs/promises";
import { describeReason } from "../../shared/objects/read-with-retries.ts";
import type { SourceFileWithHeader } from "./read-headers.ts";
import { describeProblem, nameColumns, type RowProblem, writeRow } from "./row-format.ts";

/** What is wrong with one row of a source file. */
export interface Fault extends RowProblem {
  file: SourceFileWithHeader;
  /** The line that the row begins on. */
  line: number;
  /** The row's text in the file. */
  record: string;
}

const shownFaults = 20;

/** The faults of a load. Counts all of them and keeps the first ones. */
export class FaultList {
  total = 0;
  kept: Fault[] = [];
  readonly tolerate: number;
  /** The number of faults to keep. */
  readonly keep: number;
  readonly #counts = new Map<string, number>();

  constructor(tolerate: number) {
    this.tolerate = tolerate;
    this.keep = Math.max(shownFaults, tolerate);
  }

  count(table: string, { column, problem }: RowProblem, rows: number): void {
    const kind = `${column === undefined ? table : `${table}, ${nameColumns(column)}`}: ${problem}`;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + rows);
    this.total += rows;
  }

  add(fault: Fault): void {
    this.count(fault.file.table, fault, 1);
    if (this.kept.length < this.keep) this.kept.push(fault);
  }

  /** Describes the first faults, and counts all faults by table and kind. */
  describe(): string {
    const { total, tolerate } = this;
    return [
      `${countRows(total)} cannot be published${tolerate > 0 ? `; at most ${tolerate} may be left out` : ""}. Nothing has changed.`,
      ...this.kept
        .slice(0, shownFaults)
        .map((fault) => `  ${fault.file.path}:${fault.line}: ${describeProblem(fault)}`),
      ...(total > shownFaults ? [`  … and ${total - shownFaults} more.`] : []),
      ...[...this.#counts].map(([kind, count]) => `${countRows(count)}: ${kind}`),
      `To publish the rest and write these rows to a file, add --tolerate ${total}.`,
      ...(this.kept.some(({ column }) => column === "is_public")
        ? ["Reports whose is_public has a fault then count as suppressed until --release names them."]
        : []),
    ].join("\n");
  }

  /** Writes the rows that were left out to a CSV file that only its owner may read, each with its location and problem. */
  async write(target: string): Promise<void> {
    const rows = this.kept.map((fault) =>
      writeRow([fault.file.path, fault.line, fault.column, fault.value, fault.problem, fault.record]),
    );
    const header = writeRow(["file", "line", "column", "value", "problem", "record"]);
    try {
      const file = await open(target, "w", 0o600);
      try {
        // open() sets the mode only of new files.
        await file.chmod(0o600);
        await file.writeFile(header + rows.join(""));
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw new Error(`${target} cannot be written: ${describeReason(cause)}.`, { cause });
    }
  }
}

/** The source files have more faults than are tolerated. */
export class SourceFaults extends Error {
  override name = "SourceFaults";
}

export function countRows(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}
