// A client of the Single Audit API: Node 20.11 or newer, @supabase/postgrest-js, and tsx to run it.
// Each command is one function, to be copied with those above it.

import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgrestClient, type PostgrestSingleResponse } from "@supabase/postgrest-js";
// Written by npm run db:types. Copy it too, or leave it out: rows are untyped then.
import type { Database } from "../db/contracts/types.ts";

const {
  API_URL: apiUrl = "http://localhost:8000",
  APP_URL: appUrl = "http://localhost:8001",
  API_KEY: apiKey = "DEMO_KEY",
} = process.env;
const pageSize = Number(process.env.PAGE_SIZE ?? 20_000);

const tries = 5;
const timeoutMilliseconds = 90_000;
const longestWaitSeconds = 3600;

type Table = keyof Database["api_v1_1_0"]["Views"];

class RequestFailed extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(status === 0 ? message : `${status}: ${message}`);
    this.status = status;
  }
}

/** Fetches, and fetches again after 429; GET also after 5xx and after a lost connection. */
async function send(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const isGet = (init.method ?? "GET") === "GET";
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === tries;
    let wait = 2 ** (attempt - 1);
    let problem: string;
    try {
      const answer = await fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMilliseconds) });
      // All of it, so that a body that breaks off is a lost connection as well.
      const complete = new Response(await answer.arrayBuffer(), answer);
      if (answer.status !== 429 && !(isGet && answer.status >= 500)) return complete;
      const retryAfter = answer.headers.get("retry-after") ?? "";
      if (/^\d+$/.test(retryAfter)) wait = Number(retryAfter);
      if (isLast || wait > longestWaitSeconds) return complete;
      problem = `${answer.status} ${answer.statusText}`;
    } catch (error) {
      problem = `no answer from the service: ${findCause(error)}`;
      if (!isGet || isLast) throw new RequestFailed(0, problem);
    }
    say(`${problem} (again in ${wait} s)`);
    await sleep(wait * 1000);
  }
}

/** fetch says "fetch failed", and why in its cause. */
function findCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return findCause(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

function connect(ask = send) {
  return new PostgrestClient<Database, { PostgrestVersion: "12" }, "api_v1_1_0">(apiUrl, {
    headers: { "x-api-key": apiKey },
    schema: "api_v1_1_0",
    retry: false,
    // Followed, a redirect would take the key along.
    fetch: (input, init) => ask(input, { ...init, redirect: "manual" }),
  });
}

/**
 * A client whose answers are all of one data set: the ETag of the first goes as If-Match with the others. They fail
 * with 412 once another data set is published, and what was read must be dropped.
 */
function connectToOneDataSet() {
  let etag: string | null = null;
  return connect(async (input, init) => {
    const headers = new Headers(init?.headers);
    if (etag !== null) headers.set("if-match", etag);
    const answer = await send(input, { ...init, headers });
    etag ??= answer.headers.get("etag");
    return answer;
  });
}

function unwrap<Data>({ data, error, status }: PostgrestSingleResponse<Data>): Data {
  // postgrest-js puts the name of what was thrown in front.
  if (error !== null) throw new RequestFailed(status, error.message.replace(/^Error: /, ""));
  return data;
}

async function startAgainOnChange<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RequestFailed && error.status === 412)) throw error;
      say("A new data set was published meanwhile. Starting again.");
    }
  }
  throw new Error(`A new data set was published during each of ${tries} tries.`);
}

/** All pages. `ask` must name an order that ends in unique columns, unless it asks for a whole table. */
async function* readPages<Row>(
  ask: (first: number, last: number) => PromiseLike<PostgrestSingleResponse<Row[]>>,
): AsyncGenerator<Row[]> {
  for (let offset = 0; ; ) {
    const page = unwrap(await ask(offset, offset + pageSize - 1));
    if (page.length === 0) return;
    yield page;
    offset += page.length;
  }
}

/** Writes a file by way of another, so that it is complete or as it was before. */
async function replaceFile<Result>(
  file: string,
  write: (out: FileHandle) => Promise<Result>,
): Promise<Result> {
  const part = `${file}.${process.pid}.part`;
  const out = await open(part, "w");
  try {
    const result = await write(out).finally(() => out.close());
    await rename(part, file);
    return result;
  } finally {
    await rm(part, { force: true });
  }
}

const formatLines = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

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

/** Writes all rows of a table as JSON lines. The file appears when it is complete, and is of one data set. */
async function walkTable(table: Table, file: string): Promise<number> {
  return await startAgainOnChange(() =>
    replaceFile(file, async (out) => {
      const api = connectToOneDataSet();
      let count = 0;
      for await (const page of readPages((first, last) => api.from(table).select().range(first, last))) {
        await out.writeFile(formatLines(page));
        count += page.length;
      }
      return count;
    }),
  );
}

type Report = Pick<
  Database["api_v1_1_0"]["Views"]["general"]["Row"],
  "report_id" | "fac_accepted_date" | "audit_year" | "auditee_uei" | "auditee_name" | "total_amount_expended"
>;

/** The reports of a file that syncReports wrote, by report ID. */
async function readReports(file: string): Promise<Map<string, Report>> {
  const reports = new Map<string, Report>();
  try {
    const stored = await open(file);
    for await (const line of stored.readLines()) {
      const report: Report = JSON.parse(line);
      reports.set(report.report_id, report);
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  return reports;
}

/**
 * Adds to a file of JSON lines what was accepted since the last time. Returns how many reports are new.
 *
 * Asks for what was accepted on the last day that is in the file or later, since that day may have had more reports
 * than were published then; a report that is there already is replaced. The same if it is done twice.
 *
 * A report that was superseded, suppressed or changed since, or was published late with an earlier date, is not
 * noticed: compare the report_ids with those of `walk general` now and then, or delete the file and sync anew.
 */
async function syncReports(file: string): Promise<number> {
  const reports = await readReports(file);
  let last = "1900-01-01";
  for (const { fac_accepted_date: date } of reports.values()) if (date !== null && date > last) last = date;
  const came = await startAgainOnChange(async () => {
    const api = connectToOneDataSet();
    const pages = readPages<Report>((first, end) =>
      api
        .from("general")
        .select("report_id,fac_accepted_date,audit_year,auditee_uei,auditee_name,total_amount_expended")
        // A suppressed report has no date for keys without Tribal access, and so never comes.
        .gte("fac_accepted_date", last)
        .order("fac_accepted_date")
        .order("report_id")
        .range(first, end),
    );
    const rows = [];
    for await (const page of pages) rows.push(...page);
    return rows;
  });
  const before = reports.size;
  for (const report of came) reports.set(report.report_id, report);
  await replaceFile(file, async (out) => {
    for (const report of reports.values()) await out.writeFile(formatLines([report]));
  });
  return reports.size - before;
}

/** Gets a report's PDF, which takes a Tribal key, in three steps. Returns its submission. */
async function downloadReport(reportId: string, file: string) {
  const api = connect();

  // 1. The submission; 404 if there is no such report.
  const submission = unwrap(await api.from("general").select().eq("report_id", reportId).single());

  // 2. A one-time access_uuid, valid for a minute.
  const admin = api.schema("admin_api_v1_1_0");
  const { access_uuid } = unwrap(await admin.rpc("request_file_access", { report_id: reportId }));

  // 3. A redirect to a signed address. The access_uuid is all that it takes: no key is sent.
  const answer = await send(`${appUrl}/dissemination/report/pdf/ota/${access_uuid}`);
  if (!answer.ok) throw new RequestFailed(answer.status, "The report could not be downloaded.");
  const pdf = Buffer.from(await answer.arrayBuffer());
  if (!pdf.subarray(0, 5).equals(Buffer.from("%PDF-"))) throw new Error("What was downloaded is not a PDF.");
  await replaceFile(file, (out) => out.writeFile(pdf));
  return submission;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const usage = `Usage: client.ts query YEAR STATE        print the reports of a year and a state as JSON lines
       client.ts walk TABLE FILE         write a whole table to a file of JSON lines
       client.ts sync FILE               add the reports accepted since the last time to a file of JSON lines
       client.ts download REPORT-ID FILE get a report's PDF (with a Tribal key)

Environment: API_URL, APP_URL, API_KEY (DEMO_KEY), PAGE_SIZE (20000, at most).`;

async function main([command, ...values]: string[]): Promise<void> {
  if (!(Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= 20_000)) {
    throw new Error("PAGE_SIZE must be a number from 1 to 20000.");
  }
  const [one = "", two = ""] = values;
  switch (`${command} ${values.length}`) {
    case "query 2":
      process.stdout.write(formatLines(await queryReports(one, two)));
      break;
    case "walk 2":
      // The API says if there is no such table.
      say(`${await walkTable(one as Table, two)} rows in ${two}.`);
      break;
    case "sync 1":
      say(`${await syncReports(one)} new reports in ${one}.`);
      break;
    case "download 2": {
      const { report_id, auditee_name } = await downloadReport(one, two);
      say(`${report_id} of ${auditee_name} is in ${two}.`);
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
