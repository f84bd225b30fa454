import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../service/connect.ts";
import { sendRequest, type WireAnswer, type WireRequest } from "./send-request.ts";

export interface ReadersOptions {
  baseUrl: string;
  appUrl: string;
  /** As the database's superuser. */
  databaseUrl: string;
  /** Several readers have an individual key, and only so many requests of one run at a time. */
  nextKey: (tier: "individual" | "tribal") => string;
  /** Is told of each token that was issued. */
  onToken?: (token: string) => void;
}

/** Clients that ask again and again, and know what the answer must be. */
export interface Readers {
  /** Wrong answers so far. */
  wrong: string[];
  counts: { right: number; away: number };
  /**
   * Waits until each reader was answered rightly, so many times in a row, by requests that began after a moment.
   *
   * @param since as of performance.now()
   * @returns milliseconds from that moment to the first of the last of these rows
   * @throws Error that names the readers who wait for too long, and what was wrong
   */
  recovered: (since: number, rowLength: number, longestMilliseconds: number) => Promise<number>;
  stop: () => Promise<void>;
}

/** What came of a question: `away` if the answer says that a part is away, or if there is none. */
type Outcome = "right" | "away" | { wrong: string };
type Ask = () => Promise<Outcome>;

const pauseMilliseconds = 20;
const patience = 5000;

/**
 * Starts readers: of public rows, of a stub, of suppressed rows with a Tribal key, of a report that is none, with a key
 * that is none, of a bulk file, and of PDFs by tokens that are redeemed once. Each runs by itself.
 */
export async function startReaders(options: ReadersOptions): Promise<Readers> {
  const asks = await prepareReaders(options);
  const wrong: string[] = [];
  const counts = { right: 0, away: 0 };
  let from = performance.now();
  /** When the requests of each reader's row of right answers began. */
  let rows: number[][] = asks.map(() => []);
  let isStopped = false;
  const reading = asks.map(async (ask, index) => {
    while (!isStopped) {
      const startedAt = performance.now();
      const outcome = await ask();
      if (outcome === "right") {
        counts.right += 1;
        if (startedAt >= from) rows[index]?.push(startedAt);
      } else {
        rows[index] = [];
        if (outcome === "away") counts.away += 1;
        else wrong.push(outcome.wrong);
      }
      await sleep(pauseMilliseconds);
    }
  });
  return {
    wrong,
    counts,
    recovered: async (since, rowLength, longestMilliseconds) => {
      from = since;
      rows = asks.map(() => []);
      while (!rows.every(({ length }) => length >= rowLength)) {
        if (performance.now() - since > longestMilliseconds) {
          const waiting = rows.flatMap(({ length }, index) => (length < rowLength ? [index] : []));
          throw new Error(`Readers ${waiting} wait after ${longestMilliseconds} ms.\n${wrong.join("\n")}`);
        }
        await sleep(10);
      }
      return Math.max(...rows.map(([first = since]) => first)) - since;
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(reading);
    },
  };
}

const get = (path: string, key?: string): WireRequest => ({
  method: "GET",
  path,
  headers: key === undefined ? [] : [["x-api-key", key]],
});

async function prepareReaders(options: ReadersOptions): Promise<Ask[]> {
  const { baseUrl, appUrl, databaseUrl, nextKey } = options;
  const { published, suppressed } = await chooseReports(databaseUrl);
  const row = (id: string) => `/general?report_id=eq.${id}`;
  const api: [path: string, findKey: () => string][] = [
    [row(published), () => nextKey("individual")],
    ["/general?select=report_id,is_public&order=report_id&limit=200", () => nextKey("individual")],
    ["/federal_awards?order=report_id,award_reference&limit=300", () => nextKey("individual")],
    // A stub.
    [row(suppressed), () => nextKey("individual")],
    [`/federal_awards?report_id=eq.${suppressed}`, () => nextKey("individual")],
    [row(suppressed), () => nextKey("tribal")],
    [row("2023-06-GSAFAC-9999999999"), () => nextKey("individual")],
    [row(published), () => "a key that is none"],
  ];
  const asks = await Promise.all(
    api.map(async ([path, findKey]) => expectSame(baseUrl, () => get(path, findKey()))),
  );
  asks.push(await expectSame(appUrl, () => get("/public-data/manifest.json")));
  asks.push(await expectDownload(options, suppressed));
  return asks;
}

async function chooseReports(databaseUrl: string): Promise<{ published: string; suppressed: string }> {
  const client = await connect(databaseUrl, "torture");
  try {
    const { rows } = await client.query(
      `select (select report_id from disclosed.federal_awards limit 1) as published,
         (select report_id from suppressed.federal_awards limit 1) as suppressed`,
    );
    return rows[0];
  } finally {
    await client.end();
  }
}

/** Expects what the first answer was: status, body and ETag. */
async function expectSame(origin: string, makeWire: () => WireRequest): Promise<Ask> {
  const describe = ({ status, headers, body }: WireAnswer) => {
    // An ID of the request stands in the gateway's own answers.
    const text = body.replace(/"request_id":"[^"]*"/, "");
    return JSON.stringify([status, headers.etag, text]);
  };
  const expected = describe(await sendRequest(origin, makeWire(), { patience }));
  return async () => {
    const wire = makeWire();
    const answer = await ask(origin, wire);
    if (answer === undefined || isAway(answer)) return "away";
    const found = describe(answer);
    if (found === expected) return "right";
    return { wrong: `${wire.path}: ${found.slice(0, 300)} in place of ${expected.slice(0, 100)}` };
  };
}

/** Asks for a token, redeems it, twice, and downloads the PDF, which is always the same. */
async function expectDownload(options: ReadersOptions, reportId: string): Promise<Ask> {
  const expected = await download(options, reportId);
  if (typeof expected === "string" || !("sha256" in expected))
    throw new Error(`No PDF could be downloaded: ${JSON.stringify(expected)}`);
  return async () => {
    const found = await download(options, reportId);
    if (typeof found === "string" || !("sha256" in found)) return found;
    return found.sha256 === expected.sha256 ? "right" : { wrong: "Another PDF was downloaded." };
  };
}

async function download(
  { baseUrl, appUrl, nextKey, onToken }: ReadersOptions,
  reportId: string,
): Promise<{ sha256: string } | Outcome> {
  const issued = await ask(baseUrl, {
    method: "POST",
    path: "/rpc/request_file_access",
    headers: [
      ["x-api-key", nextKey("tribal")],
      ["content-type", "application/json"],
      ["content-profile", "admin_api_v1_1_0"],
    ],
    body: JSON.stringify({ report_id: reportId }),
  });
  if (issued === undefined || isAway(issued)) return "away";
  if (issued.status !== 200) return { wrong: `A token was asked for: ${issued.status} ${issued.body}` };
  const token = String(JSON.parse(issued.body).access_uuid);
  onToken?.(token);
  const redemption = get(`/dissemination/report/pdf/ota/${token}`);
  const redeemed = await ask(appUrl, redemption);
  const again = await ask(appUrl, redemption);
  // Whatever came of the first, the token works once at most.
  if (redeemed?.status === 302 && again !== undefined && again.status !== 404 && !isAway(again))
    return { wrong: `A spent token was redeemed: ${again.status} ${again.body}` };
  if (redeemed === undefined || isAway(redeemed)) return "away";
  if (redeemed.status !== 302) return { wrong: `A token was redeemed: ${redeemed.status} ${redeemed.body}` };
  const { origin, pathname, search } = new URL(String(redeemed.headers.location));
  const file = await ask(origin, get(pathname + search));
  if (file === undefined || isAway(file)) return "away";
  if (file.status !== 200 || !file.body.startsWith("%PDF-"))
    return { wrong: `A PDF was fetched: ${file.status} ${file.body.slice(0, 200)}` };
  return { sha256: createHash("sha256").update(file.body).digest("hex") };
}

/** Undefined where nobody listens, the connection breaks, or no answer comes in time. */
const ask = (origin: string, wire: WireRequest): Promise<WireAnswer | undefined> =>
  sendRequest(origin, wire, { patience }).catch(() => undefined);

/** README, Asking: these say that something is away, and 503 when to come back. */
function isAway({ status, headers, body }: WireAnswer): boolean {
  if (status === 503) return Number(headers["retry-after"]) > 0;
  return status === 502 || status === 504 || (status === 400 && body.includes('"database_away"'));
}
