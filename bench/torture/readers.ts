import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../service/connect.ts";
import type { Target } from "./part.ts";
import { sendRequest, type WireAnswer, type WireRequest } from "./send-request.ts";

/** Clients that know what the answer must be. */
export interface Readers {
  /** Wrong answers so far. */
  wrong: string[];
  /** How often each reader has been answered rightly since it was last not. */
  countSteady: () => number;
  /** When a reader was last not answered, or told that somebody is away; as of performance.now(). */
  lastAway: () => number;
  counts: { right: number; away: number };
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
export async function startReaders(target: Target): Promise<Readers> {
  const asks = await prepareReaders(target);
  const wrong: string[] = [];
  const counts = { right: 0, away: 0 };
  const steady = asks.map(() => 0);
  let lastAway = performance.now();
  let isStopped = false;
  const reading = asks.map(async (ask, index) => {
    while (!isStopped) {
      const outcome = await ask();
      if (outcome === "right") {
        counts.right += 1;
        steady[index] = (steady[index] ?? 0) + 1;
      } else if (outcome === "away") {
        counts.away += 1;
        steady[index] = 0;
        lastAway = performance.now();
      } else wrong.push(outcome.wrong);
      await sleep(pauseMilliseconds);
    }
  });
  return {
    wrong,
    counts,
    countSteady: () => Math.min(...steady),
    lastAway: () => lastAway,
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

async function prepareReaders(target: Target): Promise<Ask[]> {
  const { baseUrl, appUrls, keys } = target;
  const [appUrl] = appUrls;
  const { published, suppressed } = await chooseReports(target);
  const row = (id: string) => `/general?report_id=eq.${id}`;
  const api: [path: string, findKey: () => string][] = [
    [row(published), () => keys.next("individual")],
    [`/federal_awards?report_id=eq.${published}&order=award_reference`, () => keys.next("individual")],
    // A stub.
    [row(suppressed), () => keys.next("individual")],
    [`/federal_awards?report_id=eq.${suppressed}`, () => keys.next("individual")],
    [row(suppressed), () => keys.next("tribal")],
    [row("2023-06-GSAFAC-9999999999"), () => keys.next("individual")],
    [row(published), () => "a key that is none"],
  ];
  const asks = await Promise.all(
    api.map(async ([path, findKey]) => expectSame(baseUrl, () => get(path, findKey()))),
  );
  asks.push(await expectSame(appUrl, () => get("/public-data/manifest.json")));
  asks.push(await expectDownload(target, suppressed));
  return asks;
}

async function chooseReports({ databaseUrl }: Target): Promise<{ published: string; suppressed: string }> {
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
    const answer = await sendRequest(origin, wire, { patience }).catch(() => undefined);
    if (answer === undefined || isAway(answer)) return "away";
    const found = describe(answer);
    if (found === expected) return "right";
    return { wrong: `${wire.path}: ${found.slice(0, 300)} in place of ${expected.slice(0, 100)}` };
  };
}

/** Asks for a token, redeems it and downloads the PDF, which is always the same. */
async function expectDownload({ baseUrl, appUrls, keys, leaks }: Target, reportId: string): Promise<Ask> {
  const ask = async (): Promise<{ sha256: string } | Outcome> => {
    const issued = await sendRequest(
      baseUrl,
      {
        method: "POST",
        path: "/rpc/request_file_access",
        headers: [
          ["x-api-key", keys.next("tribal")],
          ["content-type", "application/json"],
          ["content-profile", "admin_api_v1_1_0"],
        ],
        body: JSON.stringify({ report_id: reportId }),
      },
      { patience },
    ).catch(() => undefined);
    if (issued === undefined || isAway(issued)) return "away";
    if (issued.status !== 200) return { wrong: `A token was asked for: ${issued.status} ${issued.body}` };
    const token = String(JSON.parse(issued.body).access_uuid);
    leaks.addSecret(token);
    const redeemed = await sendRequest(appUrls[0], get(`/dissemination/report/pdf/ota/${token}`), {
      patience,
    }).catch(() => undefined);
    if (redeemed === undefined || isAway(redeemed)) return "away";
    if (redeemed.status !== 302)
      return { wrong: `A token was redeemed: ${redeemed.status} ${redeemed.body}` };
    const location = new URL(String(redeemed.headers.location));
    const file = await sendRequest(location.origin, get(location.pathname + location.search), {
      patience,
    }).catch(() => undefined);
    if (file === undefined || isAway(file)) return "away";
    if (file.status !== 200) return { wrong: `A PDF was fetched: ${file.status} ${file.body.slice(0, 200)}` };
    return { sha256: createHash("sha256").update(file.body).digest("hex") };
  };
  const expected = await ask();
  if (typeof expected === "string" || !("sha256" in expected)) throw new Error("No PDF could be downloaded.");
  return async () => {
    const found = await ask();
    if (typeof found === "string" || !("sha256" in found)) return found;
    return found.sha256 === expected.sha256 ? "right" : { wrong: "Another PDF was downloaded." };
  };
}

/** What a gateway says of a service that is away, and PostgREST of a database that went while it answered. */
function isAway({ status, body }: WireAnswer): boolean {
  return [502, 503, 504].includes(status) || (status === 400 && body.includes('"database_away"'));
}
