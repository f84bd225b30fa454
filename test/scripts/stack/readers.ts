import { setTimeout as sleep } from "node:timers/promises";
import type { RunningStack } from "../../support/run-stack.ts";
import { type Answer, send } from "../../support/target.ts";

/** Clients that ask again and again, and compare each answer with the one that is right. */
export interface Readers {
  /** What was answered and is neither right nor says that something is away. */
  wrong: string[];
  /** How often somebody was told that something is away, by what was said. */
  away: Map<string, number>;
  /**
   * Waits until each reader was answered rightly, several times in a row, by requests that began after a moment.
   *
   * @returns milliseconds from that moment to the first of the last of these rows
   * @throws Error with what was wrong, or who waits for too long
   */
  recovered: (since: number) => Promise<number>;
  stop: () => Promise<void>;
}

/** Asks once; true if the answer is right, false if something is away. Throws what is wrong. */
type Ask = () => Promise<boolean>;

const rowLength = 3;
const longestMilliseconds = 20_000;
const pauseMilliseconds = 40;

export async function startReaders(stack: RunningStack): Promise<Readers> {
  const { facts } = stack;
  const { keys, base_url, app_url, sample } = facts;
  const wrong: string[] = [];
  const away = new Map<string, number>();
  const note = (what: string) => void away.set(what, (away.get(what) ?? 0) + 1);
  const asksRead = (origin: string, path: string, key?: string): Promise<Ask> =>
    makeRead(() => ask(origin, path, key === undefined ? {} : { "x-api-key": key }), note);
  const asks = await Promise.all([
    asksRead(base_url, "/general?select=report_id,is_public&order=report_id&limit=200", keys.individual),
    asksRead(base_url, "/federal_awards?order=report_id,award_reference&limit=300", keys.individual),
    asksRead(base_url, `/general?report_id=eq.${sample.suppressed_report_id}`, keys.tribal),
    asksRead(base_url, `/general?report_id=eq.${sample.suppressed_report_id}`, keys.individual),
    asksRead(base_url, "/general?limit=1", "nobody's key"),
    asksRead(app_url, "/public-data/manifest.json"),
  ]);
  asks.push(() => download(stack, note));

  let isStopping = false;
  let from = performance.now();
  /** When the requests of each reader's row of right answers began. */
  let rows: number[][] = asks.map(() => []);
  const running = asks.map(async (askOnce, index) => {
    while (!isStopping) {
      const startedAt = performance.now();
      const isRight = await askOnce().catch((error: Error) => {
        wrong.push(error.message);
        return false;
      });
      if (!isRight) rows[index] = [];
      else if (startedAt >= from) rows[index]?.push(startedAt);
      await sleep(pauseMilliseconds);
    }
  });
  return {
    wrong,
    away,
    recovered: async (since) => {
      from = since;
      rows = asks.map(() => []);
      while (!rows.every(({ length }) => length >= rowLength)) {
        const waiting = rows.flatMap(({ length }, index) => (length < rowLength ? [index] : []));
        if (wrong.length > 0) throw new Error(wrong.join("\n"));
        if (performance.now() - since > longestMilliseconds)
          throw new Error(`Readers ${waiting.join()} wait after ${longestMilliseconds} ms.`);
        await sleep(10);
      }
      return Math.max(...rows.map(([first = since]) => first)) - since;
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

/** A read whose first answer is the one that is right. */
async function makeRead(read: () => Promise<Answer | undefined>, note: (what: string) => void): Promise<Ask> {
  const right = await read();
  return async () => {
    const answer = await read();
    if (tellsOfAbsence(answer, note)) return false;
    if (answer?.status === right?.status && withoutId(answer) === withoutId(right)) return true;
    throw new Error(`${answer?.status} ${answer?.text.slice(0, 300)}`);
  };
}

/** The gateway's own answers name the request. */
const withoutId = (answer: Answer | undefined) => answer?.text.replace(/"request_id":"\w+"/, "");

/** The three steps to a PDF, and a fourth: the token works once at most, whatever came of it before. */
async function download({ facts }: RunningStack, note: (what: string) => void): Promise<boolean> {
  const requested = await ask(
    facts.base_url,
    "/rpc/request_file_access",
    {
      "x-api-key": facts.keys.tribal,
      "content-profile": "admin_api_v1_1_0",
      "content-type": "application/json",
    },
    JSON.stringify({ report_id: facts.sample.suppressed_report_id }),
  );
  if (tellsOfAbsence(requested, note)) return false;
  const token = /[0-9a-f]{8}(-[0-9a-f]{4,12}){4}/.exec(requested?.text ?? "")?.[0];
  if (requested?.status !== 200 || token === undefined)
    throw new Error(`no token: ${requested?.status} ${requested?.text}`);
  const target = `/dissemination/report/pdf/ota/${token}`;
  const redeemed = await ask(facts.app_url, target);
  const again = await ask(facts.app_url, target);
  if (redeemed?.status === 302 && again?.status === 302) throw new Error("a token was redeemed twice");
  if (redeemed?.status === 302 && again !== undefined && again.status !== 404 && again.status !== 503)
    throw new Error(`a spent token: ${again.status} ${again.text}`);
  if (tellsOfAbsence(redeemed, note)) return false;
  if (redeemed?.status !== 302) throw new Error(`a fresh token: ${redeemed?.status} ${redeemed?.text}`);
  const { origin, pathname, search } = new URL(String(redeemed.headers.location));
  const file = await ask(origin, pathname + search);
  if (tellsOfAbsence(file, note)) return false;
  if (file?.status !== 200 || !file.text.startsWith("%PDF-"))
    throw new Error(`a signed address: ${file?.status} ${file?.text.slice(0, 300)}`);
  return true;
}

/** Undefined where nobody listens, or the connection breaks. */
async function ask(
  origin: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer | undefined> {
  const method = body === undefined ? "GET" : "POST";
  return await send(origin, path, { method, headers, ...(body === undefined ? {} : { body }) }).catch(
    (error: NodeJS.ErrnoException) => {
      if (["ECONNREFUSED", "ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(error.code ?? ""))
        return undefined;
      throw error;
    },
  );
}

/** README, Asking: these say that something is away, and all but the gateway's 502 say when to come back. */
function tellsOfAbsence(answer: Answer | undefined, note: (what: string) => void): boolean {
  if (answer === undefined) note("no connection");
  else if (answer.status === 502) note("502");
  else if (answer.status === 503 && Number(answer.headers["retry-after"]) > 0) note("503");
  else if (answer.status === 400 && answer.json?.code === "database_away") note("400 database_away");
  else return false;
  return true;
}
