import fc from "fast-check";

export type Headers = [name: string, value: string][];

/** Bytes that Node's client sends in a path. */
export const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
/** What Node's client sends: no control characters but tabs. */
const headerText = visible.map((text) => text.replace(/\x7f/g, "~"));

const media = fc.constantFrom(
  ...["application/json", "text/csv", "*/*", "application/vnd.pgrst.object+json", "application/openapi+json"],
  ...[
    "application/vnd.pgrst.array+json",
    "application/vnd.pgrst.plan+json",
    "application/vnd.pgrst.object+json;nulls=stripped",
  ],
  ...[
    "text/html",
    "application/geo+json",
    "application/octet-stream",
    "text/xml",
    "x",
    "",
    ";q=1",
    "application/json;q=x",
  ],
  ...[
    'application/vnd.pgrst.plan+text; for="text/csv"; options=analyze|verbose',
    "text/*;q=0.1, application/*",
  ],
);
const profile = fc.constantFrom(
  "api_v1_1_0",
  "admin_api_v1_1_0",
  "dissemination",
  "suppressed",
  "pg_catalog",
  "",
  "é",
  "a,b",
);
const prefer = fc.constantFrom(
  ...[
    "count=exact",
    "count=planned",
    "count=estimated",
    "return=representation",
    "return=minimal",
    "tx=rollback",
  ],
  ...[
    "handling=strict",
    "handling=strict, bogus",
    "timezone=America/Los_Angeles",
    "timezone=Nowhere",
    "max-affected=0",
  ],
  ...[
    "handling=strict, max-affected=x",
    "params=single-object",
    "params=multiple-objects",
    "missing=default",
    "",
    ",,=",
  ],
);
const range = fc.constantFrom(
  "0-9",
  "5-",
  "-5",
  "9-0",
  "0-0",
  "x",
  "bytes=0-1",
  "99999999999999999999-",
  "0-9,20-29",
  "",
);
const etag = fc.constantFrom("*", '"x"', 'W/"x"', "x", '"', '"a", "b"', "");

const header: fc.Arbitrary<[string, string]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom("Accept", "Content-Type"), media) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom("Accept-Profile", "Content-Profile"), profile) },
  { weight: 6, arbitrary: fc.tuple(fc.constant("Prefer"), prefer) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom("Range", "Range-Unit", "If-Range"), range) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom("If-Match", "If-None-Match", "If-Modified-Since"), etag) },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constant("Accept-Encoding"),
      fc.constantFrom("gzip", "br", "identity", "*;q=0", "gzip;q=x"),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constantFrom(
        ...["X-Api-Key-Sha256", "X-Api-Key-Tier", "X-Filter-Report-Id", "X-Request-Id", "X-Forwarded-For"],
        ...[
          "X-Forwarded-Proto",
          "X-Forwarded-Prefix",
          "Forwarded",
          "X-HTTP-Method-Override",
          "Authorization",
        ],
        ...[
          "Cookie",
          "Referer",
          "User-Agent",
          "Origin",
          "Access-Control-Request-Method",
          "X-Real-Ip",
          "Via",
          "Te",
        ],
      ),
      fc.oneof(headerText, fc.constantFrom("eq.none", "Bearer x", "POST", "1.2.3.4", "https://a.example")),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant("Connection"),
      fc.constantFrom("close", "keep-alive, x-api-key", "upgrade", ","),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/), headerText) },
);
/** What clients and proxies send along, and what they had better not; often nothing, so that the query decides. */
export const headers: fc.Arbitrary<Headers> = fc.oneof(
  fc.constant<Headers>([]),
  fc.array(header, { maxLength: 4 }).map((list) => list.filter(isSent)),
);

/** Framing is for test/gateway/hostile/smuggling.test.ts, which has sockets of its own. */
function isSent([name]: Headers[number]): boolean {
  return !/^(content-length|transfer-encoding|expect|upgrade|host|trailer|keep-alive)$/i.test(name);
}
