import { open } from "node:fs/promises";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { type Client, type FieldDef, types } from "pg";

/** A row group ends after as many values, or characters of text: so much is held in memory at a time. */
const mostValues = 1_000_000;
const mostCharacters = 16 << 20;
const rowsAFetch = 5000;
const dayMilliseconds = 86_400_000;

/** How a type of PostgreSQL is written; each that is not here is text. */
const columnTypes = {
  [types.builtins.BOOL]: { type: { type: "BOOLEAN" }, parse: (text: string) => text === "t" },
  [types.builtins.INT4]: { type: { type: "INT32" }, parse: Number },
  [types.builtins.INT8]: { type: { type: "INT64" }, parse: BigInt },
  [types.builtins.DATE]: {
    type: { type: "INT32", converted_type: "DATE" },
    // Days since 1970.
    parse: (text: string) => Date.parse(text) / dayMilliseconds,
  },
} as const;
const text = {
  type: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  parse: (value: string) => value,
} as const;
const findType = (oid: number) => columnTypes[oid as keyof typeof columnTypes] ?? text;

/**
 * Writes the rows of a query as Parquet, compressed by Snappy, which every reader knows, a row group at a time. Dates,
 * integers and booleans are what they are in the database. The caller is in a transaction.
 *
 * @returns how many rows there are
 */
export async function writeParquet(client: Client, sql: string, target: string): Promise<number> {
  await client.query(`declare parquet_rows no scroll cursor for ${sql}`);
  const file = await open(target, "w");
  const writer = new ByteWriter();
  const flush = async () => {
    await file.write(writer.getBytes());
    writer.index = 0;
  };
  try {
    let parquet: ParquetWriter | undefined;
    let group = startGroup([]);
    let count = 0;
    for (let isEnd = false; !isEnd; ) {
      const { rows, fields } = await fetchRows(client);
      parquet ??= new ParquetWriter({
        writer,
        createdBy: "single-audit-api",
        schema: describeSchema(fields),
      });
      if (group.columns.length === 0) group = startGroup(fields);
      for (const row of rows) addRow(group, row);
      count += rows.length;
      isEnd = rows.length < rowsAFetch;
      const isFull = group.rows * fields.length >= mostValues || group.characters >= mostCharacters;
      if (group.rows === 0 || !(isFull || isEnd)) continue;
      parquet.write({ columnData: group.columns, rowGroupSize: group.rows });
      await flush();
      group = startGroup(fields);
    }
    parquet?.finish();
    await flush();
    return count;
  } finally {
    await file.close();
    await client.query("close parquet_rows").catch(() => {});
  }
}

async function fetchRows(client: Client) {
  return await client.query<unknown[]>({
    text: `fetch ${rowsAFetch} from parquet_rows`,
    rowMode: "array",
    types: { getTypeParser: (oid: number) => findType(oid).parse as never },
  });
}

function describeSchema(fields: FieldDef[]) {
  return [
    { name: "root", num_children: fields.length },
    ...fields.map(({ name, dataTypeID }) => ({
      name,
      repetition_type: "OPTIONAL" as const,
      ...findType(dataTypeID).type,
    })),
  ];
}

interface RowGroup {
  columns: { name: string; data: unknown[] }[];
  rows: number;
  characters: number;
}

function startGroup(fields: FieldDef[]): RowGroup {
  return { columns: fields.map(({ name }) => ({ name, data: [] })), rows: 0, characters: 0 };
}

function addRow(group: RowGroup, row: unknown[]): void {
  for (const [index, { data }] of group.columns.entries()) {
    const value = row[index];
    data.push(value);
    if (typeof value === "string") group.characters += value.length;
  }
  group.rows += 1;
}
