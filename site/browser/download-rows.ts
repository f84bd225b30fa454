import { largestLimit, type Query } from "../query.ts";
import { readExtra, writeExtra } from "../write-target.ts";
import { readTotal } from "./read-outcome.ts";
import { type Answer, isGood, sendRequest } from "./send-request.ts";

/** A query whose rows are to be fetched to the last. */
export interface Download {
  /** Writes a query as it is sent. */
  write: (query: Query) => string;
  query: Query;
  apiUrl: string;
  schema: string;
  key: string;
  signal: AbortSignal;
}

/** An answer that ended a download. */
export class Refused extends Error {
  override name = "Refused";
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(`The API answered ${answer.status}.`);
    this.answer = answer;
  }
}

async function ask(
  { write, apiUrl, schema, key, signal }: Download,
  query: Query,
  { method, headers }: { method: "GET" | "HEAD"; headers: Record<string, string> },
): Promise<Answer> {
  const extra = readExtra(query.extra).filter(([name]) => name !== "limit" && name !== "offset");
  const target = write({ ...query, extra: writeExtra(extra) });
  const answer = await sendRequest(apiUrl + target, {
    method,
    headers: { "accept-profile": schema, ...headers },
    key,
    signal,
  });
  if (!isGood(answer)) throw new Refused(answer);
  return answer;
}

/** Counts the rows of a query, in one request. */
export async function countRows(
  download: Download,
): Promise<{ total: number; requests: number; answer: Answer }> {
  const query = { ...download.query, order: [], limit: 1, offset: 0 };
  const answer = await ask(download, query, { method: "HEAD", headers: { prefer: "count=exact" } });
  const total = readTotal(answer) ?? 0;
  return { total, requests: Math.ceil(total / largestLimit), answer };
}

/**
 * Fetches all rows as CSV, the largest pages there are, all of one data set.
 *
 * @param note is told after each request how many rows are there
 * @throws Refused; Error where there is no answer
 */
export async function fetchRows(
  download: Download,
  { total, answer: { headers } }: { total: number; answer: Answer },
  note: (rows: number, answer: Answer) => void,
): Promise<{ name: string; parts: string[] }> {
  const parts: string[] = [];
  for (let offset = 0; offset < total; offset += largestLimit) {
    const answer = await ask(
      download,
      { ...download.query, limit: largestLimit, offset },
      { method: "GET", headers: { accept: "text/csv", "if-match": headers.etag ?? "*" } },
    );
    // Each page begins with the columns' names, and no name has a line break.
    const start = offset === 0 ? 0 : answer.text.indexOf("\n") + 1;
    parts.push(`${answer.text.slice(start).replace(/\n$/, "")}\n`);
    note(Math.min(total, offset + largestLimit), answer);
  }
  const dataSet = /^"([^"]+)"/.exec(headers["data-set"] ?? "")?.[1];
  return { name: [download.query.table, ...(dataSet === undefined ? [] : [dataSet])].join("-"), parts };
}
