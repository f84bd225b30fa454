import fc from "fast-check";
import { type Headers, headers, visible } from "./generate-headers.ts";
import { query, table } from "./generate-query.ts";
import type { WireRequest } from "./send-request.ts";

/** A request before the key of its client is put in. */
export interface GeneratedRequest extends WireRequest {
  key: "individual" | "tribal" | "demo" | "wrong" | "none";
}

const method = fc.oneof(
  { weight: 30, arbitrary: fc.constant("GET") },
  { weight: 4, arbitrary: fc.constant("HEAD") },
  { weight: 4, arbitrary: fc.constant("POST") },
  { weight: 3, arbitrary: fc.constantFrom("OPTIONS", "PUT", "PATCH", "DELETE") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("TRACE", "PURGE", "PROPFIND", "QUERY", "get", "GeT", "X", "M-SEARCH"),
  },
);

const segment = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "..",
      ".",
      "",
      "%2e%2e",
      "%2f",
      "%00",
      "%ff",
      "rpc",
      ";x",
      "general",
      "%67eneral",
    ),
  },
  { weight: 1, arbitrary: visible.map((text) => text.replace(/[?#]/g, "")) },
);
const oddPath = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const rpc = fc.constantFrom(
  "/rpc/request_file_access",
  "/rpc/request_file_access/",
  "/rpc/authorize",
  "/rpc/",
);
const apiPath = fc.oneof(
  { weight: 24, arbitrary: table.map((name) => `/${name}`) },
  { weight: 3, arbitrary: rpc },
  { weight: 2, arbitrary: fc.constantFrom("/", "//", "/no_such_table", "/general/", "/GENERAL") },
  { weight: 1, arbitrary: oddPath },
);

const body = fc.oneof(
  fc.constantFrom(
    '{"report_id":"2023-06-GSAFAC-0000000002"}',
    '{"report_id":null}',
    "{}",
    "[]",
    "",
    "null",
    '{"report_id":',
  ),
  fc.constantFrom(
    '{"report_id":1e999}',
    '{"report_id":"\\u0000"}',
    '{"report_id":"\\ud800"}',
    `"${"x".repeat(17_000)}"`,
  ),
  fc.constantFrom(
    "[".repeat(4000),
    "report_id=x",
    "report_id\nx",
    "\xff\xfe",
    '{"report_id":"x","report_id":"y"}',
  ),
  fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text).toString("latin1")),
  fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  }),
);

/** A request at the gateway, by whoever. */
export const apiRequest: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(
    fc.oneof(
      { weight: 60, arbitrary: fc.constant<GeneratedRequest["key"]>("individual") },
      { weight: 25, arbitrary: fc.constant<GeneratedRequest["key"]>("tribal") },
      { weight: 15, arbitrary: fc.constantFrom<GeneratedRequest["key"]>("demo", "wrong", "none") },
    ),
    method,
    apiPath,
    query,
    headers,
    body,
    fc.boolean(),
  )
  .map(([key, verb, path, search, lines, text, hasBody]) => {
    const isCall = path.startsWith("/rpc/");
    const more: Headers = isCall && verb === "POST" ? callHeaders : [];
    const mayHaveBody = !["GET", "HEAD", "OPTIONS", "TRACE", "get", "GeT"].includes(verb) || lines.length > 3;
    return {
      key,
      method: verb,
      path: isCall && verb === "POST" && hasBody ? path : `${path}?${search}`,
      headers: [...more, ...lines],
      body: hasBody && mayHaveBody ? text : undefined,
    };
  });
const callHeaders: Headers = [
  ["Content-Profile", "admin_api_v1_1_0"],
  ["Content-Type", "application/json"],
];

const downloads = "/dissemination/report/pdf/ota";
const token = fc.oneof(
  fc.uuid(),
  fc.constantFrom(
    "",
    "x",
    "%00",
    "%zz",
    "%ff",
    "..%2f..%2fetc%2fpasswd",
    "'or'1'='1",
    "a".repeat(9000),
    "{}",
  ),
  visible.map((text) => text.replace(/[?#]/g, "")),
);
const appPath = fc.oneof(
  { weight: 6, arbitrary: token.map((text) => `${downloads}/${text}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "/",
      "/reference",
      "/explorer",
      "/healthz",
      "/readyz",
      "/.well-known/security.txt",
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .oneof(
        table.map((name) => `${name}.csv.gz`),
        fc.constantFrom("manifest.json", "", "..%2fmanifest.json", "x.csv.gz"),
      )
      .map((name) => `/public-data/${name}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "/assets/",
      "/assets/..%2f..%2fpackage.json",
      "/favicon.ico",
      "/metrics",
      downloads,
    ),
  },
  { weight: 2, arbitrary: oddPath },
);
const search = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: query.map((text) => `?${text}`) },
);

/** A request at the app: redemptions of tokens that are none, pages and bulk files. */
export const appRequest: fc.Arbitrary<GeneratedRequest> = fc
  .tuple(method, appPath, search, headers, body, fc.boolean())
  .map(([verb, path, text, lines, content, hasBody]) => ({
    key: "none",
    method: verb,
    path: path + text,
    headers: lines,
    body: hasBody && verb !== "GET" ? content : undefined,
  }));
