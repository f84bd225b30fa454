import type { Client } from "pg";
import { countFaults, type FaultList, nameKind } from "./faults.ts";
import { type LocatedFault, locateFaults } from "./locate-faults.ts";
import { runDefinition } from "./read-definition.ts";
import type { FileWithHeader } from "./read-headers.ts";
import { readSuppression, type Suppression } from "./suppression.ts";

/**
 * Looks for faults that only the whole data set shows: report IDs of a wrong form, reports that stand there twice,
 * files that contradict each other, rows of no report. Takes these rows out of the staging tables and adds them to the
 * faults that COPY has found.
 *
 * @returns the first faults with their records, the rows that go because their report does, the rows by table that later
 * files have repeated, and which reports are suppressed
 */
export async function checkRows(
  client: Client,
  files: FileWithHeader[],
  faults: FaultList,
  keep: number,
  definitions?: string,
): Promise<{
  located: LocatedFault[];
  consequences: number;
  repetitions: Repetitions[];
  suppression: Suppression;
}> {
  const located = await locateFaults(faults.first, files);
  // A report whose row in general is refused takes its other rows with it.
  const rejected = located.flatMap(({ file, reportId }) =>
    files[file]?.table === "general" && reportId !== undefined ? [reportId] : [],
  );
  await client.query("insert into staging.rejected_reports select unnest($1::text[])", [rejected]);
  await runDefinition(client, "check.sql", definitions);

  const { rows: kinds } = await client.query<{
    table: string;
    column: string;
    problem: string;
    rows: number;
  }>(
    `select table_name as table, column_name as column, problem, count(*)::integer as rows
     from staging.faults where not is_consequence
     group by table_name, column_name, problem order by min(source_file), min(source_line)`,
  );
  for (const { table, rows, ...kind } of kinds) countFaults(faults, nameKind(table, kind), rows);
  const { rows } = await client.query<Found>(
    `select source_file as file, source_line as line, column_name as column, value, problem,
       other_file, other_line
     from staging.faults where not is_consequence order by source_file, source_line limit $1`,
    [keep],
  );
  const found = rows.map(({ other_file, other_line, problem, ...fault }) => ({
    ...fault,
    value: fault.value ?? undefined,
    problem: other_file === null ? problem : `${problem}: first at ${files[other_file]?.path}:${other_line}`,
  }));
  located.push(...(await locateFaults(found, files)));
  located.sort((a, b) => a.file - b.file || a.line - b.line);
  faults.first = located.slice(0, keep);
  const { rows: gone } = await client.query<{ rows: number }>(
    "select count(*)::integer as rows from staging.faults where is_consequence",
  );
  const { rows: repetitions } = await client.query<Repetitions>(
    `select table_name as table, sum(rows)::integer as rows
     from staging.shared_reports where is_repetition group by table_name order by table_name`,
  );
  return {
    located: located.slice(0, keep),
    consequences: gone[0]?.rows ?? 0,
    repetitions,
    suppression: await readSuppression(client),
  };
}

interface Repetitions {
  table: string;
  rows: number;
}

interface Found {
  file: number;
  line: number;
  column: string;
  value: string | null;
  problem: string;
  other_file: number | null;
  other_line: number | null;
}
