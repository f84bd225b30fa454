// A client of the Single Audit API. Needs Node 20.11 or newer, @supabase/postgrest-js, and tsx.
// Each command is a function. To use one in your own program, copy it with the functions above it and api.ts.

import { type FileHandle, readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import {
  apiKey,
  apiUrl,
  appUrl,
  connect,
  connectToOneDataSet,
  formatLines,
  pageSize,
  RequestFailed,
  readPages,
  replaceFile,
  say,
  send,
  sendToOneDataSet,
  startAgainOnChange,
  unwrap,
} from "./api.ts";

/** The reports of a year and a state. */
async function queryReports(year: string, state: string) {
  return await startAgainOnChange(async () => {
    const api = connectToOneDataSet();
    const pages = readPages((first, last) =>
      api
        .from("general")
        .select("report_id,auditee_name,fac_accepted_date,total_amount_expended")
        .eq("audit_year", year)
        .eq("auditee_state", state)
        .order("report_id")
        .range(first, last),
    );
    const rows = [];
    for await (const page of pages) rows.push(...page);
    return rows;
  });
}

/**
 * Writes all rows of a table: as CSV if the file's name ends in .csv, and as JSON lines otherwise. The file appears when
 * it is complete. All its rows come from one data set.
 */
async function walkTable(table: string, file: string): Promise<void> {
  const write = file.endsWith(".csv") ? writeCsv : writeLines;
  await startAgainOnChange(() => replaceFile(file, (out) => write(table, out)));
}

async function writeLines(table: string, out: FileHandle): Promise<void> {
  const api = connectToOneDataSet();
  for await (const page of readPages((first, last) => api.from(table).select().range(first, last))) {
    await out.writeFile(formatLines(page));
  }
}

async function writeCsv(table: string, out: FileHandle): Promise<void> {
  const ask = sendToOneDataSet();
  const headers = { "x-api-key": apiKey, accept: "text/csv" };
  for (let offset = 0; ; ) {
    const address = `${apiUrl}/${encodeURIComponent(table)}?limit=${pageSize}&offset=${offset}`;
    const answer = await ask(address, { headers, redirect: "manual" });
    const text = await answer.text();
    if (!answer.ok) throw new RequestFailed(answer.status, readMessage(text));
    // "0-19999/*", or "*/*" past the end.
    const [, last] = /-(\d+)\//.exec(answer.headers.get("content-range") ?? "") ?? [];
    if (last === undefined) {
      // The API's CSV has no column names if there are no rows; the bulk file has them.
      if (offset === 0) await out.writeFile(`${(await readBulkFile(`${table}.csv.gz`)).split("\n")[0]}\n`);
      return;
    }
    // The first line of each page has the column names.
    await out.writeFile(offset === 0 ? text : text.slice(text.indexOf("\n") + 1));
    offset = Number(last) + 1;
  }
}

function readMessage(body: string): string {
  try {
    return JSON.parse(body).message;
  } catch {
    return body.slice(0, 200);
  }
}

// docs/api.md says how to generate types for all tables.
interface Report {
  report_id: string;
  fac_accepted_date: string;
  audit_year: string;
  auditee_uei: string;
  auditee_name: string;
  total_amount_expended: number;
}

/** If more reports than this changed, all reports are requested again. */
const mostChanges = 10_000;
const reportsARequest = 500;

interface Manifest {
  data_set: string;
  changes: { name: string; from: string; added: number; changed: number; removed: number }[];
}

/**
 * Updates a file of JSON lines to the public reports of the live data set. Returns how many reports it requested. Safe to
 * repeat.
 *
 * The app's manifest lists the reports that differ between one data set and the next. The ID of the file's data set is in
 * `<file>.data_set`, which is written last, so that an interrupted run only requests some reports again.
 */
async function syncReports(file: string): Promise<number> {
  const { asked, reports, dataSet } = await startAgainOnChange(async () => {
    const manifest: Manifest = await (await fetchFile("manifest.json")).json();
    const names = await listChanges(manifest, await readText(`${file}.data_set`));
    const stored = names === undefined ? undefined : await readText(file);
    if (names === undefined || stored === undefined) {
      const all = await readReports(manifest.data_set);
      return { asked: all.length, reports: all, dataSet: manifest.data_set };
    }
    const gone = new Set(names);
    const lines = stored.split("\n").filter((line) => line !== "");
    const kept = lines
      .map((line): Report => JSON.parse(line))
      .filter((report) => !gone.has(report.report_id));
    const came: Report[] = [];
    for (let start = 0; start < names.length; start += reportsARequest) {
      came.push(...(await readReports(manifest.data_set, names.slice(start, start + reportsARequest))));
    }
    return { asked: names.length, reports: [...kept, ...came], dataSet: manifest.data_set };
  });
  await replaceFile(file, async (out) => {
    for (const report of reports) await out.writeFile(formatLines([report]));
  });
  await replaceFile(`${file}.data_set`, (out) => out.writeFile(`${dataSet}\n`));
  return asked;
}

async function readText(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function fetchFile(name: string): Promise<Response> {
  const answer = await send(`${appUrl}/public-data/${name}`);
  if (!answer.ok) throw new RequestFailed(answer.status, readMessage(await answer.text()));
  return answer;
}

async function readBulkFile(name: string): Promise<string> {
  return gunzipSync(await (await fetchFile(name)).arrayBuffer()).toString();
}

/** The reports that differ between a data set and the live one; undefined if they are unknown or too many. */
async function listChanges(manifest: Manifest, stored: string | undefined): Promise<string[] | undefined> {
  const dataSet = stored?.trim();
  if (dataSet === manifest.data_set) return [];
  // After a rollback, a data set may have been live twice. Only the changes after the last time count.
  const start = manifest.changes.findLastIndex(({ from }) => from === dataSet);
  if (start < 0) return undefined;
  const steps = manifest.changes.slice(start);
  const count = steps.reduce((sum, { added, changed, removed }) => sum + added + changed + removed, 0);
  if (count > mostChanges) return undefined;
  const found = new Set<string>();
  for (const { name } of steps) {
    // A header, and lines such as 2023-06-GSAFAC-0000000001,changed
    for (const line of (await readBulkFile(name)).trim().split("\n").slice(1))
      found.add(line.split(",")[0] ?? "");
  }
  return [...found].sort();
}

/** Returns the public reports of the manifest's data set: all, or only the named ones. */
async function readReports(dataSet: string, names?: string[]): Promise<Report[]> {
  const api = connectToOneDataSet(dataSet);
  const rows: Report[] = [];
  const pages = readPages<Report>((first, last) => {
    const reports = api
      .from("general")
      .select("report_id,fac_accepted_date,audit_year,auditee_uei,auditee_name,total_amount_expended")
      .eq("is_public", true);
    return (names === undefined ? reports : reports.in("report_id", names))
      .order("report_id")
      .range(first, last);
  });
  for await (const page of pages) rows.push(...page);
  return rows;
}

/** Gets a report's PDF, which takes a Tribal key, in three steps. Returns its submission. */
async function downloadReport(reportId: string, file: string) {
  const api = connect();

  // 1. The submission; 404 if there is no such report.
  const submission = unwrap(await api.from("general").select().eq("report_id", reportId).single());

  // 2. For a suppressed report, a one-time access_uuid, valid until expires_at.
  let path = reportId;
  if (!submission.is_public) {
    const { access_uuid } = unwrap(await api.rpc("request_file_access", { report_id: reportId }));
    path = `ota/${access_uuid}`;
  }

  // 3. A redirect to a signed URL. No key is sent.
  const answer = await send(`${appUrl}/dissemination/report/pdf/${path}`);
  if (!answer.ok) throw new RequestFailed(answer.status, "The report could not be downloaded.");
  const pdf = Buffer.from(await answer.arrayBuffer());
  if (!pdf.subarray(0, 5).equals(Buffer.from("%PDF-"))) throw new Error("The downloaded file is not a PDF.");
  await replaceFile(file, (out) => out.writeFile(pdf));
  return submission;
}

const usage = `Usage: client.ts query YEAR STATE        print the reports of a year and a state as JSON lines
       client.ts walk TABLE FILE         write a whole table to a file: CSV if it ends in .csv, else JSON lines
       client.ts sync FILE               update a file of JSON lines to the live data set
       client.ts download REPORT-ID FILE get a report's PDF (if it is suppressed, with a Tribal key)

Environment: API_URL, APP_URL, API_KEY (DEMO_KEY), PAGE_SIZE (20000, the maximum).`;

async function main([command, ...values]: string[]): Promise<void> {
  if (!(Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= 20_000)) {
    throw new Error("PAGE_SIZE must be a number from 1 to 20000.");
  }
  const [one = "", two = ""] = values;
  for (const address of [apiUrl, appUrl]) {
    if (!/^https?:/.test(address) || !URL.canParse(address))
      throw new Error(`${address} should be a URL such as http://localhost:8000.`);
  }
  switch (`${command} ${values.length}`) {
    case "query 2":
      process.stdout.write(formatLines(await queryReports(one, two)));
      break;
    case "walk 2":
      // The API says if there is no such table.
      await walkTable(one, two);
      say(`Wrote ${one} to ${two}.`);
      break;
    case "sync 1":
      if (one.endsWith(".csv"))
        throw new Error("sync writes JSON lines. Choose a name that does not end in .csv.");
      say(`Requested ${await syncReports(one)} reports. ${one} is up to date.`);
      break;
    case "download 2": {
      const { report_id, auditee_name } = await downloadReport(one, two);
      say(`Wrote ${report_id} of ${auditee_name} to ${two}.`);
      break;
    }
    case "--help 0":
      process.stdout.write(`${usage}\n`);
      break;
    default:
      say(usage);
      process.exitCode = 2;
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
