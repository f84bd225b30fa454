import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

// clients.ts KIND…: reads the API 20 times a second, asks the app for a PDF twice a second, and loads a page, and requests and redeems
// a one-time token, every 2 s, until SIGTERM, and then until responses are right, for at most 30 s. Prints how many responses were of each kind, and exits with 1 if there was a kind that the arguments do not name, or if the
// last response was not right.
//   right        the response while all parts run
//   unavailable  503, or PostgREST 12's 400 for a lost connection to the database
//   unconnected  no connection, or a connection that broke
//   other        everything else, such as a wrong row, or no response within 30 s
// Environment: BASE_URL, APP_URL, REPORT (a public report's ID), TRIBAL_KEY, KEYS (API keys, separated by spaces). If SUPPRESSED (the
// ID of a suppressed report) and REVOKED (a revoked key) are set, it also asks for the report and with the key, every 2 s.
type Kind = "right" | "unavailable" | "unconnected" | "other";
interface Outcome {
  kind: Kind;
  startedAt: number;
  seconds: number;
}
interface Target {
  name: string;
  everyMs: number;
  ask: (init: RequestInit) => Promise<Response>;
  isRight: (response: Response, body: string) => boolean;
}

const allowed = new Set(process.argv.slice(2));
const { BASE_URL, APP_URL, REPORT, TRIBAL_KEY = "", KEYS = "", SUPPRESSED, REVOKED } = process.env;
const keys = KEYS.split(" ");
const pdf = `${APP_URL}/dissemination/report/pdf`;
const isRedirect = ({ status, headers }: Response) => status === 302 && headers.has("location");
const targets: Target[] = [
  {
    name: "API",
    everyMs: 50,
    ask: (init) => fetch(`${BASE_URL}/general?report_id=eq.${REPORT}&select=report_id`, init),
    isRight: ({ status }, body) => status === 200 && body === `[{"report_id":"${REPORT}"}]`,
  },
  {
    name: "app",
    everyMs: 500,
    ask: (init) => fetch(`${pdf}/${REPORT}`, init),
    isRight: isRedirect,
  },
  {
    name: "pages",
    everyMs: 2000,
    ask: (init) => fetch(`${APP_URL}/record/${REPORT}`, init),
    isRight: ({ status }, body) => status === 200 && body.includes(`${REPORT}`),
  },
  { name: "tokens", everyMs: 2000, ask: redeemToken, isRight: isRedirect },
];
if (SUPPRESSED !== undefined && REVOKED !== undefined)
  targets.push(
    {
      name: "suppressed",
      everyMs: 2000,
      ask: (init) =>
        fetch(`${BASE_URL}/general?report_id=eq.${SUPPRESSED}&select=is_public,auditee_name`, init),
      isRight: ({ status }, body) => status === 200 && body === '[{"is_public":false,"auditee_name":null}]',
    },
    {
      name: "suppressed PDF",
      everyMs: 2000,
      ask: (init) => fetch(`${pdf}/${SUPPRESSED}`, init),
      isRight: ({ status }) => status === 404,
    },
    {
      name: "revoked",
      everyMs: 2000,
      ask: (init) =>
        fetch(`${BASE_URL}/general?limit=1`, {
          ...init,
          headers: { ...init.headers, "x-api-key": REVOKED },
        }),
      isRight: ({ status }) => status === 401,
    },
  );

/** Requests a one-time token, and redeems it. Returns the first response that is not right. */
async function redeemToken(init: RequestInit): Promise<Response> {
  const requested = await fetch(`${BASE_URL}/rpc/request_file_access`, {
    ...init,
    method: "POST",
    headers: { ...init.headers, "x-api-key": TRIBAL_KEY, "content-type": "application/json" },
    body: JSON.stringify({ report_id: REPORT }),
  });
  if (requested.status !== 200) return requested;
  const { access_uuid: token } = (await requested.json()) as { access_uuid: string };
  return await fetch(`${pdf}/ota/${token}`, init);
}

const notes = new Map<string, number>();
const note = (text: string) => notes.set(text, (notes.get(text) ?? 0) + 1);

/** Asks once, with the key and the address of one client of many, because each has a limit. */
async function classify({ name, ask, isRight }: Target, client: number): Promise<Kind> {
  const headers = { "x-api-key": keys[client] ?? "", "x-forwarded-for": `192.0.2.${client + 1}` };
  try {
    const signal = AbortSignal.timeout(30_000);
    const response = await ask({ headers, redirect: "manual", signal });
    const body = await response.text();
    if (isRight(response, body)) return "right";
    const isLost = response.status === 400 && body.includes('"database_unavailable"');
    const kind = response.status === 503 || isLost ? "unavailable" : "other";
    const [code] = /"code": ?"\w+"/.exec(body) ?? [body.slice(0, 300)];
    note(`${name}: ${kind}, ${response.status} ${code}`);
    return kind;
  } catch (error) {
    if (!(error instanceof Error && error.name === "TimeoutError")) return "unconnected";
    note(`${name}: other, no response within 30 s`);
    return "other";
  }
}

function run(target: Target) {
  const asked: Promise<Outcome>[] = [];
  let last: Kind | undefined;
  const timer = setInterval(() => {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1000;
    asked.push(
      classify(target, asked.length % keys.length).then((kind) => {
        last = kind;
        return { kind, startedAt, seconds: seconds() };
      }),
    );
  }, target.everyMs);
  return {
    isRight: () => last === "right",
    finish: async () => {
      clearInterval(timer);
      return report(target.name, await Promise.all(asked));
    },
  };
}

/** Prints what the clients of a target saw, and says whether all of it is allowed. */
function report(name: string, outcomes: Outcome[]): boolean {
  const kinds = [...new Set(outcomes.map(({ kind }) => kind))];
  const of = (kind: Kind) => outcomes.filter((outcome) => outcome.kind === kind);
  const counts = kinds.map((kind) => `${of(kind).length} ${kind}`).join(", ");
  const slowest = Math.max(0, ...of("unavailable").map(({ seconds }) => seconds));
  console.log(
    `${name}: ${counts}; at most ${longestOutage(outcomes).toFixed(1)} s without a right response, ` +
      `at most ${slowest.toFixed(1)} s until a 503`,
  );
  return outcomes.at(-1)?.kind === "right" && kinds.every((kind) => allowed.has(kind));
}

/** The longest time, in seconds, in which every request that began got no right response. */
function longestOutage(outcomes: Outcome[]): number {
  let [longest, since] = [0, 0];
  for (const { kind, startedAt } of outcomes) {
    if (kind !== "right") since ||= startedAt;
    else if (since > 0) [longest, since] = [Math.max(longest, startedAt - since), 0];
  }
  // An outage that did not end lasts until the last request.
  if (since > 0) longest = Math.max(longest, (outcomes.at(-1)?.startedAt ?? since) - since);
  return longest / 1000;
}

const running = targets.map(run);
await once(process, "SIGTERM");
// On a busy machine, parts take longer to recover.
for (let seconds = 0; seconds < 30 && !running.every(({ isRight }) => isRight()); seconds += 1)
  await sleep(1000);
const areAllowed = await Promise.all(running.map(({ finish }) => finish()));
for (const [text, times] of notes) console.log(`${times} × ${text}`);
process.exit(areAllowed.every(Boolean) ? 0 : 1);
