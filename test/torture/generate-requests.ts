import { readFileSync } from "node:fs";
import path from "node:path";
import fc, { type Arbitrary } from "fast-check";
import type { Contract } from "../../scripts/deploy/contract.ts";
import type { WireRequest } from "./send-request.ts";

// Most of the requests follow PostgREST's query grammar, because only what its parser accepts reaches the database.

/** A request without its key, and which key to send with it. */
export interface GeneratedRequest extends WireRequest {
  key: "individual" | "tribal" | "demo" | "wrong" | "none";
}

type Text = Arbitrary<string>;
/** Picks one of the words in a text, or one of the other values, which may be empty or contain spaces. */
const pick = (words: string, ...others: string[]): Text =>
  fc.constantFrom(...words.trim().split(/\s+/), ...others);
const maybe = (words: string): Text => pick(words, "", "", "", "");
const weigh = <Value>(...choices: [weight: number, arbitrary: Arbitrary<Value>][]): Arbitrary<Value> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const concat = (...parts: Text[]): Text => fc.tuple(...parts).map((texts) => texts.join(""));
const list = (item: Text, maxLength: number, minLength = 0): Text =>
  fc.array(item, { minLength, maxLength }).map((items) => items.join(","));
const parenthesize = (text: Text): Text => text.map((inner) => `(${inner})`);
/** Up to 30 random bytes that are at least `min`, as Latin-1 text. */
const bytes = (min: number): Text =>
  fc.uint8Array({ min, maxLength: 30 }).map((codes) => Buffer.from(codes).toString("latin1"));

const contractFile = path.resolve(import.meta.dirname, "../../db/contracts/api_v1_1_0.json");
const { views }: Contract = JSON.parse(readFileSync(contractFile, "utf8"));
const table = fc.constantFrom(...Object.keys(views));
const columns = new Set(Object.values(views).flatMap((view) => view.columns.map(({ name }) => name)));
/** Columns that every table with rows of reports has. */
const common = pick("report_id audit_year auditee_uei fac_accepted_date");
const column = weigh(
  [6, common],
  [6, fc.constantFrom(...columns)],
  [2, pick('* ctid xmin tableoid no_such 1 report_id->a audit_year->-1->>x "report_id"', "report_id ", "")],
  [1, fc.string({ unit: "binary", maxLength: 12 })],
);
const operator = pick(`eq neq gt gte lt lte like ilike match imatch in is isdistinct
  fts plfts phfts wfts cs cd ov sl sr nxr nxl adj not all bogus`);
const value = fc.oneof(
  pick(
    `2023 true null unknown * % CA 93 2023-06-GSAFAC-0000000002 2024-01-31 -1 1e400 NaN 99999999999999999999 2147483648 0x10
     infinity 24:00 {} [] {1,2} [1,2) (,) {{1},{2}} "a" ' '' \\ *a* ((( [ a{1000} (?=a)b| \\1 (english).dog a:* $1 ; -- /*
     %00 %ff 😀 a\u0301 \u202e`,
    ...["", "!& |", "a <-> b"],
  ),
  fc.integer().map(String),
  fc.double().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const quoted = value.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`);
/** Such as `not.in.("a",b)`. */
const condition = concat(
  ...[maybe("not. not.not."), operator, maybe("(any) (all) (english) (simple) () (x"), pick(".")],
  fc.oneof(value, quoted, parenthesize(list(fc.oneof(value, quoted), 8))),
);
const { tree: logic } = fc.letrec<{ tree: string; node: string }>((tie) => ({
  tree: parenthesize(list(tie("node"), 4, 1)),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    concat(column, pick("."), condition),
    concat(pick("and or not.and not.or xor"), tie("tree")),
  ),
}));
const cast = maybe("::text ::int ::date ::jsonb ::bytea ::regclass ::x ::");
const alias = concat(maybe("a é"), maybe(": :"));
const { selection } = fc.letrec<{ selection: string; item: string }>((tie) => ({
  selection: list(tie("item"), 4),
  item: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    concat(alias, column, cast, maybe(".count() .sum() .max() .avg() .none() ()"), cast),
    concat(
      ...[maybe("..."), alias, weigh([3, pick("general")], [5, table])],
      ...[maybe("!inner !left !report_id !x !inner!left"), parenthesize(tie("selection"))],
    ),
  ),
}));
const order = list(concat(column, maybe(".asc .desc .up"), maybe(".nullsfirst .nullslast .nulls")), 3, 1);
const amount = pick("0 1 5 20 20000 -1 1.5 x 9223372036854775808 4294967296", "");
const prefix = weigh([3, fc.constant("")], [1, table.map((name) => `${name}.`)]);

type Parameter = [name: string, value: string];
const parameter = weigh<Parameter>(
  [8, fc.tuple(concat(prefix, column), condition)],
  [3, fc.tuple(concat(prefix, pick("or and not.or not.and")), logic)],
  [6, fc.tuple(pick("select"), selection)],
  [3, fc.tuple(concat(prefix, pick("order")), order)],
  [3, fc.tuple(concat(prefix, pick("limit offset")), amount)],
  [1, fc.tuple(pick("columns on_conflict api_key apikey report_id", "", "a b"), value)],
);
/** Parameters like those of ordinary clients. Most of these return rows. */
const plainParameter = fc.oneof<Arbitrary<Parameter>[]>(
  fc.constantFrom<Parameter[]>(
    ["report_id", "like.2023*"],
    ["audit_year", "in.(2022,2023)"],
    ["or", "(audit_year.eq.2022,and(audit_year.eq.2023,report_id.gt.2023-07))"],
    ["select", "report_id,general(auditee_name,auditee_email,is_public)"],
    ["select", "*,general!inner(*)"],
    ["general.is_public", "is.true"],
    ["report_id", "ilike(any).{*1,*2}"],
  ),
  fc.tuple(common, concat(pick("eq. neq. gt. lte. not.is."), pick("2023 2024-01-31 null"))),
  fc.tuple(pick("select order"), list(common, 3, 1)),
  fc.tuple(pick("offset"), fc.nat(3000).map(String)),
);
const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const escapeByte = (byte: string) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
/** Ways in which clients encode a parameter: completely, partly, or hardly at all. */
const encoding = fc.constantFrom<((text: string) => string)[]>(
  (text) => encodeURIComponent(Buffer.from(text).toString()),
  (text) => encodeURIComponent(Buffer.from(text).toString()).replace(/%2[8C9A]|%3A/g, decodeURIComponent),
  (text) => latin1(text).replace(/[^\x21-\x7e]|[#&]/g, escapeByte),
  (text) => latin1(text).replace(/[\0-\x20#]/g, "+"),
);
const parameters = weigh<Parameter[]>(
  [3, fc.array(plainParameter, { maxLength: 3 })],
  [3, fc.tuple(fc.array(plainParameter, { maxLength: 3 }), parameter).map(([plain, odd]) => [...plain, odd])],
  [2, fc.array(parameter, { maxLength: 5 })],
);
/** Limits each response to a few rows, so that a run can send many requests. */
const query = fc
  .tuple(parameters, encoding, pick("limit=20 limit=3 limit=0"))
  .map(([all, encode, limit]) => [...all.map((pair) => pair.map(encode).join("=")), limit].join("&"));

const visible = bytes(0x21);
/** Headers, and values to try for them. A line is picked first, so a header on several lines is sent more often. */
const headerLines = `
  Accept, Content-Type: application/json | text/csv | */* | text/html | x | ;q=1 | application/json;q=x | application/geo+json
  Accept, Content-Type: application/vnd.pgrst.object+json | application/openapi+json | text/xml | text/*;q=0.1, application/*
  Accept: application/vnd.pgrst.array+json | application/vnd.pgrst.plan+text; for="text/csv"; options=analyze|verbose | |
  Accept-Profile, Content-Profile: api_v1_1_0 | admin_api_v1_1_0 | dissemination | suppressed | pg_catalog | é | a,b | |
  Prefer: count=exact | count=planned | count=estimated | return=representation | return=minimal | tx=rollback | ,,= | |
  Prefer: handling=strict | handling=strict, bogus | handling=strict, max-affected=x | missing=default | max-affected=0
  Prefer: timezone=America/Los_Angeles | timezone=Nowhere | params=single-object | params=multiple-objects
  Range, Range-Unit, If-Range: 0-9 | 5- | -5 | 9-0 | x | bytes=0-1 | 99999999999999999999- | 0-9,20-29 | |
  If-Match, If-None-Match, If-Modified-Since: * | "x" | W/"x" | x | " | "a", "b" | |
  Accept-Encoding: gzip | br | identity | *;q=0 | gzip;q=x
  X-Api-Key-Sha256, X-Api-Key-Tier, X-Filter-Report-Id, Authorization, Cookie, X-HTTP-Method-Override: eq.none | Bearer x | POST
  X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Prefix, Forwarded, X-Real-Ip, Via, Te, X-Request-Id: 1.2.3.4 | x | trailers
  Origin, Referer, User-Agent, Access-Control-Request-Method: https://a.example | POST | x
  Connection: close | keep-alive, x-api-key | upgrade | ,`;
const headerText = visible.map((text) => text.replace(/\x7f/g, "~"));
const knownHeaders = headerLines
  .trim()
  .split("\n")
  .map((line) => {
    const [names = "", values = ""] = line.split(/: (.*)/);
    const value = weigh([9, fc.constantFrom(...values.split(" | "))], [1, headerText]);
    return fc.tuple(fc.constantFrom(...names.trim().split(", ")), value);
  });
const unknownHeader = fc.tuple(fc.stringMatching(/^X[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/), headerText);
const someHeaders = fc.array(fc.oneof(...knownHeaders, unknownHeader), { maxLength: 4 });
const headers = fc.oneof(fc.constant<Parameter[]>([]), someHeaders);

const method = weigh(
  [30, pick("GET")],
  [8, pick("HEAD POST")],
  [4, pick("OPTIONS PUT PATCH DELETE TRACE PURGE PROPFIND QUERY get GeT X M-SEARCH")],
);
const plainText = visible.map((text) => text.replace(/[?#]/g, ""));
const segment = weigh([2, pick(".. . %2e%2e %2f %00 %ff rpc ;x general %67eneral", "")], [1, plainText]);
const oddPath = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const body = fc.oneof(
  pick(
    `{"report_id":"2023-06-GSAFAC-0000000002"} {"report_id":null} {} [] null {"report_id": {"report_id":1e999} report_id=x
     {"report_id":"\\u0000"} {"report_id":"\\ud800"} {"report_id":"x","report_id":"y"} \xff\xfe`,
    ...["", "report_id\nx", `"${"x".repeat(17_000)}"`, "[".repeat(4000)],
  ),
  fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text).toString("latin1")),
  bytes(0),
);
const apiPath = weigh(
  [24, table.map((name) => `/${name}`)],
  [
    5,
    pick(
      "/rpc/request_file_access /rpc/request_file_access/ /rpc/authorize /rpc/ / // /no_such_table /general/ /GENERAL",
    ),
  ],
  [1, oddPath],
);
const key = weigh<GeneratedRequest["key"]>(
  [60, fc.constant("individual")],
  [25, fc.constant("tribal")],
  [15, fc.constantFrom("demo", "wrong", "none")],
);
const callHeaders: Parameter[] = [
  ["Content-Profile", "admin_api_v1_1_0"],
  ["Content-Type", "application/json"],
];

const generate = (path: Text): Arbitrary<GeneratedRequest> =>
  fc
    .record({ key, method, path, query, headers, body, oddity: fc.nat(7) })
    .map(({ query: search, oddity, ...request }) => {
      const isCall = request.path.startsWith("/rpc/") && request.method === "POST";
      return {
        ...request,
        path: isCall ? request.path : `${request.path}?${search}`,
        headers: [...(isCall ? callHeaders : []), ...request.headers],
        // Most requests that should have no body have none.
        body: isCall || oddity === 0 ? request.body : undefined,
      };
    });

const token = fc.oneof(
  fc.uuid(),
  pick(`x %00 %zz %ff ..%2f..%2fetc%2fpasswd 'or'1'='1 ${"a".repeat(9000)} {}`, ""),
  plainText,
);
const appPath = weigh(
  [6, token.map((text) => `/dissemination/report/pdf/ota/${text}`)],
  [3, table.map((name) => `/public-data/${name}.csv.gz`)],
  [
    5,
    pick(`/ /reference /explorer /healthz /readyz /.well-known/security.txt /public-data/manifest.json /public-data/ /metrics
      /public-data/..%2fmanifest.json /assets/..%2f..%2fpackage.json /assets/ /dissemination/report/pdf/ota`),
  ],
  [2, oddPath],
);

/** A request to the gateway. */
export const apiRequest = generate(apiPath);
/** A request to the app: invalid tokens, pages and bulk files. */
export const appRequest = generate(appPath);
