import { beforeAll, describe, expect, it } from "vitest";
import { readTreeTime } from "../../support/read-cpu-time.ts";
import {
  keys,
  kongProgram,
  readKongYml,
  sendBytes,
  startGatewayProgram,
  startUpstream,
  unlimited,
  useGateways,
} from "../gateways.ts";

// No request may cost a gateway much before it is refused or forwarded, whatever its path, query, headers and key. The
// requests consist of one block, repeated to the longest that the gateway reads, so each shows what grows with length.

useGateways();
/** CPU milliseconds: what the project promises for a worker of Kong; Lua in WebAssembly takes longer. */
const most = kongProgram === undefined ? 60 : 10;
const longest = 31_900;
let gateway: { url: string; pid: number };
beforeAll(async () => {
  const upstream = await startUpstream(({ url = "" }, response) => {
    if (!url.startsWith("/findings?")) return void response.end("[]");
    const [value] = new URL(url, "http://a").searchParams.values();
    const message = `"failed to parse filter (${value})" (line 1, column 1)`;
    response.writeHead(400, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ code: "PGRST100", details: null, hint: null, message }));
  });
  gateway = await startGatewayProgram(await readKongYml(unlimited), upstream);
});

const fill = (start: string, block: string, end = "", length = longest) =>
  start + block.repeat(Math.max(0, Math.floor((length - start.length - end.length) / block.length))) + end;
const quoteSplit = (text: string) => text.trim().split(/\s+/);

const pathBlocks = quoteSplit(
  "/ /./ a// ./ /a/../ a/../ %2e/ %2E%2E/ %2f ; a b/ ' \" ( [ { \\ %25 %C3%A9 %00 %zz @ : & = * . .. ~ %7e -",
);
const queryBlocks = [
  ...quoteSplit(
    'a & a& = a=& api_key=& &api_key=DEMO_KEY select= ( ) () ,( (a ), a( a() , a, a,( " "" "a" "a", %22 %22a%22, : :: a: a:b, ::bytea ::text',
  ),
  ...quoteSplit(
    "-> ->> a->b . .. ... a. + %20 * ! !inner %C3%A9 %F0%9F%98%80 %E2%82%AC %zz %25 %2C %28 %29 limit=1& a.limit=1& [ ] { } ; ' \\ @ ~",
  ),
];
const queryStarts = quoteSplit(
  '? ?select= ?select=" ?select="a", ?or=( ?order= ?a=in.( ?limit= ?a.limit= ?x.select= ?report_id=eq. ?report_id=in.( ?columns= ?%73elect=',
);
const headerNames = quoteSplit(
  "Accept Accept-Profile Content-Profile Connection X-Api-Key X-Request-Id Prefer Authorization X-Forwarded-For Referer If-None-Match Cookie Te",
);
const headerBlocks = [
  " ",
  "a",
  ",",
  ", ",
  "a,",
  "close,",
  "application/geo+json,",
  "a_",
  "aA0",
  '"',
  "\\",
  ";q=1,",
  "1.1.1.1,",
  "\xc3\xa9",
  "\xff",
  "(",
  "eq.",
  "individual_",
];

const withKey = (key: string) => (key === "" ? "" : `X-Api-Key: ${key}\r\n`);
const write = (target: string, head: string) =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${head}\r\n`;

const requests: Record<string, string[]> = {
  paths: pathBlocks.flatMap((block) => [
    write(fill("/", block), ""),
    write(fill("/", block, "", 200), withKey(keys.standard)),
    write(fill("/general/", block, "", 201), ""),
    write(`${fill("/", block, "", 190)}?select=a`, withKey("DEMO_KEY")),
  ]),
  "paths with queries": pathBlocks.map((block) =>
    write(fill(`${fill("/", block, "", 198)}?select=`, "a,"), withKey(keys.standard)),
  ),
  queries: queryStarts.flatMap((start) =>
    queryBlocks.map((block) => write(fill(`/general${start}`, block), withKey(keys.standard))),
  ),
  "queries that PostgREST does not understand": ["sort", "audit_year", "q", "auditee_nam"].flatMap((name) =>
    [...queryBlocks, "a", "9"].map((block) =>
      write(fill(`/findings?${name}=`, block, "!"), withKey(keys.standard)),
    ),
  ),
  "queries without a key": queryBlocks.map((block) => write(fill("/general?", block), "")),
  headers: headerNames.flatMap((name) =>
    headerBlocks.flatMap((block) => [
      write(
        "/general",
        `${fill(`${name}: `, block)}\r\n${name === "X-Api-Key" ? "" : withKey(keys.standard)}`,
      ),
      write(
        "/general",
        `${fill(`${name}: `, block, "", 15_000)}\r\n${name === "X-Api-Key" ? "" : withKey(keys.standard)}`,
      ),
    ]),
  ),
  "many headers": headerBlocks.flatMap((block) =>
    [15_000, 120_000].map((length) =>
      write(
        "/general",
        `${withKey(keys.standard)}${`${fill("X-A: ", block, "", length / 90)}\r\n`.repeat(90)}`,
      ),
    ),
  ),
  "more headers than are read": [
    write("/general", `${withKey(keys.standard)}${"A: 1\r\n".repeat(15_000)}`),
    write(
      "/general",
      `${withKey(keys.standard)}${Array.from({ length: 10_000 }, (_, n) => `A${n}: 1`).join("\r\n")}\r\n`,
    ),
  ],
};

/** Sends a request up to eight times, because a gateway also works in the background. Returns the least CPU time. */
async function measure(request: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 8 && least > most; attempt += 1) {
    const before = readTreeTime(gateway.pid);
    await sendBytes(gateway.url, request);
    least = Math.min(least, readTreeTime(gateway.pid) - before);
  }
  return least;
}

describe("a request costs the gateway little, whatever is repeated in its", () => {
  it.each(Object.entries(requests))("%s", { timeout: 600_000 }, async (_, list) => {
    await sendBytes(gateway.url, write("/general", ""));
    const costly: string[] = [];
    let worst = 0;
    for (const request of list) {
      const cost = await measure(request);
      worst = Math.max(worst, cost);
      if (cost > most) costly.push(`${cost.toFixed(1)} ms: ${request.slice(0, 120)}`);
    }
    if (process.env.SHOW_COSTS) console.log(_, list.length, "worst", worst.toFixed(1));
    expect(costly).toEqual([]);
  });
});
