import { open, readFile, unlink } from "node:fs/promises";
import { CsvError, parse } from "csv-parse/sync";
import type { Row } from "../../shared/format-table.ts";
import type { Ask } from "./database.ts";
import { formatCsv } from "./format-csv.ts";
import { isDay } from "./read-options.ts";

const required = ["tier", "owner_email"];
const columns = [...required, "label", "expires_at", "agreement_id"];

/**
 * Issues a key for each row of a CSV file, and writes them to a new file that only its owner can read. If anything fails, it issues
 * no key and leaves no file.
 *
 * @param inDatabase runs work in one transaction
 * @returns how many keys it issued
 * @throws Error that names the line and the column
 */
export async function issueList(
  from: string,
  out: string,
  inDatabase: (work: (ask: Ask) => Promise<void>) => Promise<void>,
): Promise<number> {
  const wanted = readList(
    await readFile(from, "utf8").catch((cause) => fail(describeFile(from, cause), cause)),
  );
  const file = await open(out, "wx", 0o600).catch((cause) => fail(describeFile(out, cause), cause));
  try {
    await inDatabase(async (ask) => {
      const keys = await issueKeys(ask, wanted);
      await file.writeFile(`${formatCsv(["key", "id", "key_prefix", ...columns], keys)}\n`);
      await file.sync();
    });
  } catch (error) {
    await unlink(out);
    throw error;
  } finally {
    await file.close();
  }
  return wanted.length;
}

async function issueKeys(ask: Ask, wanted: Row[]): Promise<Row[]> {
  const issued = await ask<{ api_key_id: string; api_key: string }>(
    "select to_json(issued) from access.issue_keys($1) as issued",
    [JSON.stringify(wanted)],
  );
  const ids = issued.map(({ api_key_id }) => api_key_id);
  const rows = await ask<Row>("select to_json(key) from access.key_overview as key where id = any ($1)", [
    ids,
  ]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return issued.map(({ api_key_id, api_key }) => ({ ...found.get(api_key_id), key: api_key }));
}

/** Reads the rows of a list of keys, with their lines. */
function readList(text: string): Row[] {
  const rows = parseList(text);
  if (rows.length === 0) fail("The list has no keys. Add a line for each key.");
  for (const { line, expires_at: day } of rows)
    if (day !== null && !isDay(String(day)))
      fail(`Line ${line}, column expires_at: "${day}" is not a date such as 2027-01-31.`);
  return rows;
}

function parseList(text: string): Row[] {
  try {
    const parsed: { info: { lines: number }; record: Record<string, string> }[] = parse(text, {
      bom: true,
      columns: checkHeader,
      info: true,
      skip_empty_lines: true,
      trim: true,
    });
    return parsed.map(({ info, record }) => ({
      ...record,
      line: info.lines,
      expires_at: record.expires_at || null,
    }));
  } catch (cause) {
    if (cause instanceof CsvError) fail(`Line ${cause.lines}: ${cause.message}.`, cause);
    throw cause;
  }
}

function checkHeader(header: string[]): string[] {
  const known = `Columns: ${columns.join(", ")}.`;
  for (const name of header) {
    if (!columns.includes(name)) fail(`Line 1: There is no column "${name}". ${known}`);
    if (header.indexOf(name) !== header.lastIndexOf(name)) fail(`Line 1: The column ${name} appears twice.`);
  }
  for (const name of required)
    if (!header.includes(name)) fail(`Line 1: The column ${name} is missing. ${known}`);
  return header;
}

const describeFile = (file: string, { code, message }: NodeJS.ErrnoException) =>
  code === "EEXIST"
    ? `${file} already exists. Name a new file for the keys.`
    : `${file} cannot be opened: ${message}.`;

function fail(message: string, cause?: unknown): never {
  throw new Error(message, { cause });
}
