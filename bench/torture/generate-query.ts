import fc from "fast-check";

// The grammar of PostgREST's query strings, mostly kept to: what its parser takes reaches the database.

const tables = [
  "general",
  "federal_awards",
  "findings",
  "findings_text",
  "corrective_action_plans",
  "notes_to_sefa",
  "passthrough",
  "secondary_auditors",
  "additional_ueis",
  "additional_eins",
  "resubmission",
];
export const table = fc.constantFrom(...tables);
const column = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      ...["report_id", "audit_year", "auditee_uei", "fac_accepted_date", "is_public", "auditee_name"],
      ...["auditee_email", "total_amount_expended", "fy_end_date", "award_reference", "amount_expended"],
      ...["federal_agency_prefix", "finding_text", "contact_phone", "additional_ein", "is_major"],
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("*", "ctid", "xmin", "tableoid", "no_such", "report_id ", "", "1"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("report_id->a", "report_id->>0", "audit_year->-1->>x", '"report_id"'),
  },
);
const operator = fc.constantFrom(
  ...["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "match", "imatch", "in", "is", "isdistinct"],
  ...[
    "fts",
    "plfts",
    "phfts",
    "wfts",
    "cs",
    "cd",
    "ov",
    "sl",
    "sr",
    "nxr",
    "nxl",
    "adj",
    "not",
    "all",
    "bogus",
  ],
);
const value = fc.oneof(
  fc.constantFrom(
    ...[
      "2023",
      "true",
      "null",
      "unknown",
      "",
      "*",
      "%",
      "CA",
      "93",
      "2023-06-GSAFAC-0000000002",
      "2024-01-31",
    ],
    ...["-1", "1e400", "NaN", "99999999999999999999", "2147483648", "0x10", "infinity", "24:00", "{}", "[]"],
    ...[
      "{1,2}",
      "[1,2)",
      "(,)",
      "{{1},{2}}",
      '"a"',
      "'",
      "''",
      "\\",
      "*a*",
      "(((",
      "[",
      "a{1000}",
      "(?=a)b|",
      "\\1",
    ],
    ...[
      "(english).dog",
      "!& |",
      "a:*",
      "a <-> b",
      "$1",
      ";",
      "--",
      "/*",
      "%00",
      "%ff",
      "😀",
      "a\u0301",
      "\u202e",
    ],
  ),
  fc.integer().map(String),
  fc.double().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const quoted = value.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`);
const list = fc.array(fc.oneof(value, quoted), { maxLength: 8 }).map((items) => `(${items.join(",")})`);
const not = fc.constantFrom("", "", "", "not.", "not.not.");
const quantifier = fc.constantFrom("", "", "", "(any)", "(all)", "(english)", "(simple)", "()", "(x");

/** Such as `not.in.("a",b)`. */
const condition = fc
  .tuple(not, operator, quantifier, fc.oneof(value, list, quoted))
  .map(([negation, name, config, operand]) => `${negation}${name}${config}.${operand}`);

const { tree: logic } = fc.letrec<{ tree: string; node: string }>((tie) => ({
  tree: fc.array(tie("node"), { minLength: 1, maxLength: 4 }).map((nodes) => `(${nodes.join(",")})`),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.tuple(column, condition).map(([name, text]) => `${name}.${text}`),
    fc
      .tuple(fc.constantFrom("and", "or", "not.and", "not.or", "xor"), tie("tree"))
      .map((parts) => parts.join("")),
  ),
}));

const cast = fc.constantFrom(
  "",
  "",
  "",
  "",
  "::text",
  "::int",
  "::date",
  "::jsonb",
  "::bytea",
  "::regclass",
  "::x",
  "::",
);
const alias = fc.constantFrom("", "", "", "a:", "report_id:", "é:", '"a b":', ":");
const aggregate = fc.constantFrom("", "", "", "", ".count()", ".sum()", ".max()", ".avg()", ".none()", "()");
const spread = fc.constantFrom("", "", "", "", "...");
const hint = fc.constantFrom("", "", "", "!inner", "!left", "!report_id", "!x", "!inner!left");

const { selection } = fc.letrec<{ selection: string; item: string }>((tie) => ({
  selection: fc.array(tie("item"), { minLength: 0, maxLength: 4 }).map((items) => items.join(",")),
  item: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(alias, column, cast, aggregate, cast).map((parts) => parts.join("")),
    fc
      .tuple(
        spread,
        alias,
        fc.oneof({ weight: 3, arbitrary: fc.constant("general") }, { weight: 5, arbitrary: table }),
      )
      .chain((start) => fc.tuple(fc.constant(start.join("")), hint, tie("selection")))
      .map(([start, kind, inner]) => `${start}${kind}(${inner})`),
  ),
}));

const order = fc
  .array(
    fc
      .tuple(
        column,
        fc.constantFrom("", ".asc", ".desc", ".up"),
        fc.constantFrom("", "", ".nullsfirst", ".nullslast", ".nulls"),
      )
      .map((parts) => parts.join("")),
    { minLength: 1, maxLength: 3 },
  )
  .map((items) => items.join(","));
const amount = fc.constantFrom(
  "0",
  "1",
  "5",
  "20",
  "20000",
  "-1",
  "1.5",
  "x",
  "",
  "9223372036854775808",
  "4294967296",
);
const prefix = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  { weight: 2, arbitrary: table.map((name) => `${name}.`) },
);

const parameter = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(prefix, column, condition).map(([at, name, text]) => [`${at}${name}`, text]),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(prefix, fc.constantFrom("or", "and", "not.or", "not.and"), logic)
      .map(([at, name, text]) => [`${at}${name}`, text]),
  },
  { weight: 6, arbitrary: selection.map((text) => ["select", text]) },
  { weight: 3, arbitrary: fc.tuple(prefix, order).map(([at, text]) => [`${at}order`, text]) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(prefix, fc.constantFrom("limit", "offset"), amount)
      .map(([at, name, text]) => [`${at}${name}`, text]),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("columns", "on_conflict", "api_key", "apikey", "report_id", "", "a b"), value)
      .map((parts) => parts),
  },
);

// Of columns that every table has, as a client would write it: most of these are answered with rows.
const common = fc.constantFrom("report_id", "audit_year", "auditee_uei", "fac_accepted_date");
const plainParameter: fc.Arbitrary<string[]> = fc.oneof(
  fc.constantFrom<string[][]>(
    ["report_id", "like.2023*"],
    ["audit_year", "in.(2022,2023)"],
    ["fac_accepted_date", "gte.2023-06-01"],
    ["auditee_uei", "not.is.null"],
    ["or", "(audit_year.eq.2022,and(audit_year.eq.2023,report_id.gt.2023-07))"],
    ["select", "report_id,general(auditee_name,auditee_email,is_public)"],
    ["select", "*,general!inner(*)"],
    ["general.is_public", "is.true"],
    ["report_id", "ilike(any).{*1,*2}"],
  ),
  fc
    .tuple(common, fc.constantFrom("eq.", "neq.", "gt.", "lte."), fc.constantFrom("2023", "2024-01-31"))
    .map(([name, comparison, text]) => [name, comparison + text]),
  fc.uniqueArray(common, { minLength: 1 }).map((names) => ["select", names.join(",")]),
  fc.uniqueArray(common, { minLength: 1 }).map((names) => ["order", names.join(".desc,")]),
  fc.nat(3000).map((number) => ["offset", String(number)]),
);

/** How a client writes a parameter down: escaped as it should be, less so, or not at all. */
const encode = fc.constantFrom(
  (text: string) => encodeURIComponent(Buffer.from(text).toString()),
  (text: string) =>
    encodeURIComponent(Buffer.from(text).toString()).replace(/%2[8C9A]|%3[A]/g, decodeURIComponent),
  (text: string) =>
    Buffer.from(text)
      .toString("latin1")
      .replace(/[^\x21-\x7e]|[#&]/g, escapeByte),
  (text: string) =>
    Buffer.from(text)
      .toString("latin1")
      .replace(/[\0-\x20#]/g, "+"),
);
function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

const few = { maxLength: 3 };
const parameters = fc.oneof(
  { weight: 3, arbitrary: fc.array(plainParameter, few) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.array(plainParameter, few), parameter).map(([plain, odd]) => [...plain, odd]),
  },
  { weight: 2, arbitrary: fc.array(parameter, { maxLength: 5 }) },
);

/** A query string, without its question mark. Few rows are asked for, so that many requests can be. */
export const query = fc
  .tuple(parameters, encode, fc.constantFrom("limit=20", "limit=3", "limit=0"))
  .map(([list, write, limit]) =>
    [...list.map(([name = "", text = ""]) => `${write(name)}=${write(text)}`), limit].join("&"),
  );
