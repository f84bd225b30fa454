import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../shared/connect.ts";
import { isUnavailable } from "./ask-generated.ts";
import { sendRequest, type WireAnswer, type WireRequest } from "./send-request.ts";
import type { Target } from "./target.ts";

type Outcome = "right" | "unavailable" | { wrong: string };
type Ask = () => Promise<Outcome>;

/**
 * Starts clients that each repeat a request and expect the same response every time. They read public rows, stubs,
 * suppressed rows with a Tribal key, a missing report, the manifest of bulk files and a PDF. One has an unknown key.
 */
export async function startReaders(target: Target) {
  const readers = (await prepareReaders(target)).map((ask) => ({ ask, rightSince: 0, inARow: 0 }));
  const wrong: string[] = [];
  const counts = { right: 0, unavailable: 0 };
  let from = performance.now();
  let isStopped = false;
  const reading = readers.map(async (reader) => {
    for (; !isStopped; await sleep(20)) {
      const startedAt = performance.now();
      const outcome = await reader.ask();
      if (outcome !== "right" || startedAt < from) reader.inARow = 0;
      else if (reader.inARow++ === 0) reader.rightSince = startedAt;
      if (typeof outcome === "object") wrong.push(outcome.wrong);
      else counts[outcome] += 1;
    }
  });
  /**
   * Waits until each reader has received `rowLength` correct responses in a row to requests that it sent after `since`.
   *
   * @param since a time of performance.now()
   * @returns milliseconds from `since` until the last reader sent the first request of its row
   * @throws Error if this takes more than `longestMilliseconds`
   */
  const recovered = async (since: number, rowLength: number, longestMilliseconds: number) => {
    from = since;
    for (const reader of readers) reader.inARow = 0;
    while (readers.some(({ inARow }) => inARow < rowLength)) {
      if (performance.now() - since > longestMilliseconds)
        throw new Error(`Some readers did not recover in ${longestMilliseconds} ms.\n${wrong.join("\n")}`);
      await sleep(10);
    }
    return Math.max(...readers.map(({ rightSince }) => rightSince)) - since;
  };
  const stop = async () => {
    isStopped = true;
    await Promise.all(reading);
  };
  return { wrong, counts, recovered, stop };
}

const get = (path: string, key?: string): WireRequest => ({
  method: "GET",
  path,
  headers: key === undefined ? [] : [["x-api-key", key]],
});

async function prepareReaders(target: Target): Promise<Ask[]> {
  const { baseUrl, appUrl, nextKey } = target;
  const client = await connect(target.databaseUrl, "torture");
  const { rows } = await client.query(
    `select (select report_id from disclosed.federal_awards limit 1) as published,
       (select report_id from suppressed.federal_awards limit 1) as suppressed`,
  );
  await client.end();
  const { published, suppressed } = rows[0];
  const individual = () => nextKey("individual");
  const requests: [path: string, findKey: () => string][] = [
    [`/general?report_id=eq.${published}`, individual],
    ["/general?select=report_id,is_public&order=report_id&limit=200", individual],
    ["/federal_awards?order=report_id,award_reference&limit=300", individual],
    [`/general?report_id=eq.${suppressed}`, individual],
    [`/federal_awards?report_id=eq.${suppressed}`, individual],
    [`/general?report_id=eq.${suppressed}`, () => nextKey("tribal")],
    ["/general?report_id=eq.2023-06-GSAFAC-9999999999", individual],
    [`/general?report_id=eq.${published}`, () => "an unknown key"],
  ];
  return await Promise.all([
    ...requests.map(([path, findKey]) => expectSame(() => ask(baseUrl, get(path, findKey())))),
    expectSame(() => ask(appUrl, get("/public-data/manifest.json"))),
    expectSame(() => download(target, suppressed)),
  ]);
}

/** Sends a request once. Returns a function that repeats it and expects the same status, body and ETag. */
async function expectSame(send: () => Promise<WireAnswer | undefined>): Promise<Ask> {
  const describe = ({ status, headers, body }: WireAnswer) =>
    JSON.stringify([status, headers.etag, body.replace(/"request_id":"[^"]*"/, "")]);
  const first = await send();
  if (first === undefined || isUnavailable(first))
    throw new Error("The service is unavailable. Start it first.");
  const expected = describe(first);
  return async () => {
    const answer = await send();
    if (answer === undefined || isUnavailable(answer)) return "unavailable";
    const found = describe(answer);
    if (found === expected) return "right";
    return { wrong: `${found.slice(0, 300)} instead of ${expected.slice(0, 300)}` };
  };
}

/** Requests a token, redeems it twice, and downloads the PDF. Returns the PDF, or the first unexpected response. */
async function download({ baseUrl, appUrl, nextKey, leaks }: Target, reportId: string) {
  const issued = await ask(baseUrl, requestFileAccess(nextKey("tribal"), reportId));
  if (issued?.status !== 200) return issued;
  const token = String(JSON.parse(issued.body).access_uuid);
  leaks.addSecret(token);
  const redemption = get(`/dissemination/report/pdf/ota/${token}`);
  const redeemed = await ask(appUrl, redemption);
  const again = await ask(appUrl, redemption);
  if (redeemed?.status === 302 && again?.status === 302)
    return { ...again, body: "A token was redeemed twice." };
  if (redeemed?.status !== 302) return redeemed;
  const { origin, pathname, search } = new URL(String(redeemed.headers.location));
  return await ask(origin, get(pathname + search));
}

/** Returns the request for a one-time token. */
export const requestFileAccess = (key: string, reportId: string): WireRequest => ({
  method: "POST",
  path: "/rpc/request_file_access",
  headers: [
    ["x-api-key", key],
    ["content-type", "application/json"],
    ["content-profile", "admin_api_v1_1_0"],
  ],
  body: JSON.stringify({ report_id: reportId }),
});

/** Returns undefined if the connection fails or no response arrives within 5 seconds. */
const ask = (origin: string, wire: WireRequest): Promise<WireAnswer | undefined> =>
  sendRequest(origin, wire, 5000).catch(() => undefined);
