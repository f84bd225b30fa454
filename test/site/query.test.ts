import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { joinAln } from "../../site/aln.ts";
import type { Column, Table } from "../../site/api-description.ts";
import { moveQuery, normalizeQuery } from "../../site/normalize-query.ts";
import {
  emptyQuery,
  type Filter,
  listOperators,
  type Operator,
  operators,
  type Query,
} from "../../site/query.ts";
import { readTarget } from "../../site/read-target.ts";
import { type Language, languages, writeSnippet } from "../../site/request-snippets.ts";
import { addJoined, completeColumns } from "../../site/table-facts.ts";
import { writeTarget } from "../../site/write-target.ts";
import { clients } from "../examples/clients.ts";
import { query, request, target } from "../support/target.ts";

// Requests that the explorer writes. They contain values that are syntax in URLs, SQL, shells or PostgREST's queries.

const hostile = [
  "O'Brien, Inc.",
  'the "best" (county)',
  "a\\b\\",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is meant literally
  "$(touch pwned) `touch pwned` $HOME ${HOME}",
  "%_*.,:;&=#?+/",
  "line\nbreak",
  "'; drop table general; --",
  "{a} [b] !c ~d |e <f> ^g",
  "ñ 日本 🏛 \u2028 x",
  "\ud800",
];
const filter = (operator: Operator, value: string, column = "auditee_name"): Query => ({
  ...emptyQuery,
  select: ["report_id"],
  filters: [{ column, operator, value }],
  order: ["report_id"],
});
const hasNoValue = (operator: Operator) => /is\.|\.$/.test(operator);

describe("a request target", () => {
  it.each(hostile)("with the value %j is read back as it was written", (value) => {
    const written = value.replace(/\p{Surrogate}/gu, "\ufffd");
    for (const operator of Object.keys(operators) as Operator[]) {
      const asked = filter(operator, hasNoValue(operator) ? "" : value);
      const read = readTarget(writeTarget(asked));
      // The form cannot show a `contains` value with an asterisk, so readTarget() leaves that filter in `extra`.
      if (operator === "contains" && value.includes("*")) continue;
      expect(writeTarget(read)).toBe(writeTarget(asked));
      const [first] = asked.filters;
      expect(read).toEqual({ ...asked, filters: [{ ...first, value: first?.value && written }] });
    }
  });

  it("keeps parameters that the form has no field for, and drops the key", () => {
    const extra = "and=(a.eq.1,b.eq.2)&a=fts.b&c=in.(%22%20d%22)&e=like.f%25g&limit=-1";
    const read = readTarget(`/general?api_key=secret&${extra}&select=*,x(*,y(*))&order=a.desc,b->>c.asc`);
    const order = ["a.desc", "b->>c.asc"];
    expect(read).toEqual({ ...emptyQuery, extra, select: ["*", "x(*,y(*))"], order });
    expect(writeTarget(read)).toBe(`/general?select=*,x(*,y(*))&order=a.desc,b-%3E%3Ec.asc&${extra}`);
    expect(writeTarget({ ...emptyQuery, extra: "?x=a b&api_key=secret" })).toBe("/general?limit=100&x=a%20b");
  });

  it("can be read from any text without an error", () => {
    for (const text of ["report_id\nreport_id", "/general", "/", "", "/%zz?x", "/general?select=a(b,c"])
      expect(() => readTarget(text)).not.toThrow();
  });
});

describe("a link", () => {
  it.each([
    "/general?or=(audit_year.eq.2022,audit_year.eq.2023)",
    "/general?auditee_name=fts.county",
    "/general?auditee_name=like.*a_b%25*",
    "/federal_awards?select=report_id,of:general(auditee_name)",
    "/findings?select=report_id,...general!inner(auditee_state)&general.auditee_state=eq.CA",
    "/general?auditee_state=in.(%22CA%22,%22TX%22)",
    "/general?auditee_name=ilike(any).{*city*,*county*}",
    "/general?order=audit_year.desc,auditee_name.asc.nullsfirst",
  ])("with %s shows the rows that the API returns for it", async (text) => {
    const [given, shown] = await Promise.all(
      [`${text}&limit=5`, writeTarget(readTarget(`${text}&limit=5&api_key=secret`))].map((each) =>
        request(each, { key: "individual" }),
      ),
    );
    expect(given?.status).toBe(200);
    expect(shown?.text).toBe(given?.text);
  });
});

describe("an Assistance Listing number", () => {
  const aln = (operator: Operator, value: string): Filter => ({ column: "aln", operator, value });
  const both = "federal_agency_prefix.eq.93,federal_award_extension.eq.778";
  it.each<[string, Filter, string]>([
    ["federal_awards", aln("eq", "93.778"), "federal_agency_prefix=eq.93&federal_award_extension=eq.778"],
    ["federal_awards", aln("eq", "93"), "federal_agency_prefix=eq.93"],
    ["federal_awards", aln("eq", "9.3.4"), "federal_agency_prefix=eq.9&federal_award_extension=eq.3.4"],
    ["federal_awards", aln("in", "93.778\n84"), `or=(and(${both}),and(federal_agency_prefix.eq.84))`],
    [
      "findings",
      aln("eq", "93.778"),
      "federal_awards.federal_agency_prefix=eq.93&federal_awards.federal_award_extension=eq.778",
    ],
    ["findings", aln("in", "93.778"), `federal_awards.or=(and(${both}))`],
    ["totals_by_program", aln("eq", "93.778"), "aln=eq.93.778"],
  ])("of %s is one filter, %j, which the API gets as %s", (table, filter, parameters) => {
    const asked = { ...emptyQuery, table, filters: [filter] };
    const written = writeTarget(asked);
    expect(decodeURIComponent(written)).toBe(`/${table}?${parameters}&limit=100`);
    expect(readTarget(written)).toEqual(asked);
  });

  it.each([
    "federal_agency_prefix=in.(93,84)",
    "federal_agency_prefix=eq.9.3&federal_award_extension=eq.1",
    "federal_agency_prefix=eq.93&federal_agency_prefix=eq.84",
    "federal_award_extension=eq.778",
    "or=(and(federal_agency_prefix.eq.93,audit_year.eq.2023))",
  ])("that the filter cannot express stays as it is: %s", (parameters) => {
    const read = readTarget(`/federal_awards?${parameters}`);
    expect(read.filters.map(({ column }) => column)).not.toContain("aln");
    expect(decodeURIComponent(writeTarget(read))).toContain(parameters);
  });

  it.each(["is.null", "eq", "in"] as const)(
    "of awards and findings is a filter that the API accepts: %s",
    async (operator) => {
      const filter = aln(operator, operator === "is.null" ? "" : "93.778");
      for (const name of ["federal_awards", "findings"]) {
        const asked = { ...emptyQuery, table: name, filters: [filter] };
        const table = { ...describeTable([]), name, embeds: ["general", "federal_awards"] };
        const answer = await request(writeTarget(addJoined(asked, table)), { key: "individual" });
        expect(answer.status, answer.text.slice(0, 200)).toBe(200);
        const numbers = new Set(answer.json.map(joinAln).map((row: Record<string, unknown>) => row.aln));
        expect([...numbers]).toEqual(operator === "is.null" ? [] : ["93.778"]);
      }
    },
  );
});

describe("a filter on the report or award of a row", () => {
  const filters: Filter[] = [
    { column: "general.auditee_state", operator: "in", value: "CA\nTX" },
    { column: "general.entity_type", operator: "neq", value: "tribal" },
  ];
  const isDirect: Filter = { column: "federal_awards.is_direct", operator: "eq", value: "Y" };
  const tables: [name: string, filters: Filter[]][] = [
    ["findings", [...filters, isDirect]],
    ["federal_awards", filters],
    ["corrective_action_plans", filters],
    ["passthrough", filters],
  ];
  it.each(tables)("of %s finds those rows, as they are shown and as they are saved", async (name, typed) => {
    const table = { ...describeTable([{ name: "report_id", type: "text" }]), name };
    const embeds = name === "findings" ? ["general", "federal_awards"] : ["general"];
    const asked: Query = { ...emptyQuery, table: name, filters: typed };
    expect(readTarget(writeTarget(asked))).toEqual(asked);
    const select = ["report_id"];
    for (const written of [
      addJoined(asked, { ...table, embeds }),
      addJoined({ ...asked, select }, { ...table, embeds }),
      completeColumns({ ...asked, select }, { ...table, embeds }),
    ]) {
      const { status, json } = await request(writeTarget(written), { key: "individual" });
      expect(status, JSON.stringify(json).slice(0, 200)).toBe(200);
      const reports = await query<{ report_id: string }>(
        "select report_id from disclosed.general where auditee_state in ('CA', 'TX') and entity_type <> 'tribal'",
      );
      const found: Record<string, unknown>[] = json;
      expect(found.length).toBeGreaterThan(0);
      expect(reports.map(({ report_id }) => report_id)).toEqual(
        expect.arrayContaining([...new Set(found.map(({ report_id }) => report_id))]),
      );
      expect(new Set(found.map(({ auditee_state }) => auditee_state))).toEqual(new Set(["CA", "TX"]));
      if (name === "findings")
        expect(new Set(found.map(({ is_direct }) => is_direct))).toEqual(new Set(["Y"]));
    }
  });
});

/** A table with these columns, as the explorer gets it. */
const describeTable = (columns: (Pick<Column, "name" | "type"> & Partial<Column>)[]): Table => ({
  name: "general",
  title: "",
  description: "",
  columns: columns.map((column) => ({ label: "", description: "", values: [], words: {}, ...column })),
  related: [],
  embeds: [],
  key: [],
  required_columns: [],
});

it.each([
  ["audit_year", "text", "2023 ", "2023"],
  ["auditee_state", "text", "tx", "TX"],
  ["auditee_state", "text", " texas", "TX"],
  ["auditee_uei", "text", " abcdefghjk12 ", "ABCDEFGHJK12"],
  ["auditee_ein", "text", "04-1234567", "041234567"],
  ["is_low_risk_auditee", "text", "yes", "Yes"],
  ["report_id", "text", "2023-06-gsafac-0000000001", "2023-06-GSAFAC-0000000001"],
  ["auditee_zip", "text", "00610-1234", "006101234"],
  ["total_amount_expended", "bigint", "$1,000", "1000"],
  ["total_amount_expended", "bigint", "1.5 million", "1500000"],
  ["total_amount_expended", "bigint", "750k", "750000"],
  ["total_amount_expended", "bigint", "2 million dollars", "2000000"],
  ["total_amount_expended", "bigint", "($2,500)", "-2500"],
  ["total_amount_expended", "bigint", "many", "many"],
  ["fac_accepted_date", "date", "6/30/2023", "2023-06-30"],
  ["fac_accepted_date", "date", "June 30, 2023", "2023-06-30"],
  ["fac_accepted_date", "date", "30 Jun 2023", "2023-06-30"],
  ["fac_accepted_date", "date", "2023-06-30", "2023-06-30"],
])("a value for %s (%s) that is typed as %j is sent as %j", (name, type, typed, sent) => {
  const values = name.startsWith("is_") ? ["Yes", "No"] : [];
  const table = describeTable([{ name, type, values }]);
  expect(normalizeQuery(filter("eq", typed, name), table).filters[0]?.value).toBe(sent);
});

it.each([
  ["audit_year", "text", "2022, 2023", "2022\n2023"],
  ["auditee_state", "text", "CA,nevada;\nTX", "CA\nNV\nTX"],
  ["federal_award_extension", "text", "010,048", "010\n048"],
  ["total_amount_expended", "bigint", "1,000, $2,000,000", "1000\n2000000"],
  ["auditee_name", "text", "POLK COUNTY, IOWA\nx;y", "POLK COUNTY, IOWA\nx;y"],
  ["auditee_name", "text", 'A, B\tC "D"\n"E, F", "G ""H"""', 'A, B\nC "D"\nE, F\nG "H"'],
  [
    "auditee_uei",
    "text",
    "ABCDEFGHJK12\tabcdefghjk13 ABCDEFGHJKLM",
    "ABCDEFGHJK12\nABCDEFGHJK13\nABCDEFGHJKLM",
  ],
  ["auditee_ein", "text", "04-1234567 041234568\t04 1234569", "041234567\n041234568\n041234569"],
  ["aln", "text", "ALN 93.778, 84.010 10.555", "93.778\n84.010\n10.555"],
  ["general.auditee_state", "text", "TX ca\tNew York, puerto rico", "TX\nCA\nNY\nPR"],
  ["reference_number", "text", '2023-001 2023-002, "2023-003 A"', "2023-001\n2023-002\n2023-003 A"],
  ["fac_accepted_date", "date", "6/30/2023 7/1/2023\tJune 30 2024", "2023-06-30\n2023-07-01\n2024-06-30"],
  ["total_amount_expended", "bigint", "1.5 million, 2,000\t3", "1500000\n2000\n3"],
])("values for %s (%s) that are typed as %j are sent as %j", (name, type, typed, sent) => {
  const table = describeTable([{ name, type }]);
  expect(normalizeQuery(filter("in", typed, name), table).filters[0]?.value).toBe(sent);
});

it("a list from a link is sent unchanged, even if its values contain spaces", () => {
  const table = describeTable([{ name: "reference_number", type: "text" }]);
  const read = readTarget(`/general?reference_number=in.(${encodeURIComponent('"2023 A","B, C"')})`);
  expect(normalizeQuery(read, undefined).filters).toEqual(read.filters);
  const [first] = normalizeQuery(filter("in", "2023-001 A", "reference_number"), table).filters;
  expect(first?.value).toBe("2023-001 A");
});

it("the words for a code find the code", () => {
  const column = {
    name: "is_direct",
    type: "text",
    values: ["Y", "N"],
    words: { Y: "direct", N: "passed through" },
  };
  const table = describeTable([column]);
  expect(normalizeQuery(filter("eq", "Passed through", "is_direct"), table).filters[0]?.value).toBe("N");
});

it("several values of a code are one filter, even if it asks for one value", () => {
  const table = describeTable([{ name: "auditee_state", type: "text" }]);
  const { filters } = normalizeQuery(filter("eq", "CA, Nevada", "auditee_state"), table);
  expect(filters).toEqual(filter("in", "CA\nNV", "auditee_state").filters);
});

it("another table keeps the filters and columns that it has, and names the others", () => {
  const table = describeTable([
    { name: "report_id", type: "text" },
    { name: "audit_year", type: "text" },
  ]);
  const typed = { ...filter("eq", "2023", "audit_year"), select: ["report_id", "auditee_name"], offset: 100 };
  typed.filters.push(...filter("contains", "x", "auditee_name").filters);
  expect(moveQuery(typed, table, "findings")).toEqual({
    query: {
      ...emptyQuery,
      table: "findings",
      select: ["report_id"],
      filters: filter("eq", "2023", "audit_year").filters,
    },
    lost: ["auditee_name"],
  });
});

it("another table keeps a filter on the report or award of its rows, whose table may have the column itself", () => {
  const general = describeTable([{ name: "auditee_state", type: "text" }]);
  const { columns } = describeTable([{ name: "general.auditee_state", type: "text" }]);
  const findings = { ...describeTable([]), related: columns };
  const typed = filter("eq", "TX", "general.auditee_state");
  expect(moveQuery(typed, findings, "findings").query.filters).toEqual(typed.filters);
  const moved = filter("eq", "TX", "auditee_state").filters;
  expect(moveQuery(typed, general, "general").query.filters).toEqual(moved);
});

it("other parameters move to their fields in the form, and a malformed limit or offset is dropped", () => {
  const extra = "offset=40&limit=20&limit=x&offset=-1&audit_year=eq.2023&or=(a.eq.1)";
  const typed = { ...filter("eq", "x"), extra };
  const { filters, ...found } = normalizeQuery(typed, undefined);
  expect(found).toMatchObject({ offset: 40, limit: 20, extra: "or=(a.eq.1)", order: ["report_id"] });
  expect(filters.map(({ column, value }) => [column, value])).toEqual([
    ["auditee_name", "x"],
    ["audit_year", "2023"],
  ]);
});

describe("the API accepts", () => {
  it.each(hostile)("the value %j literally", async (value) => {
    const listed = value.replace("\n", " ").replace(/\p{Surrogate}/gu, "\ufffd");
    const names = await query<{ report_id: string; auditee_name: string }>(
      "select report_id, auditee_name from disclosed.general order by report_id limit 2",
    );
    const [first, second] = names;
    for (const operator of ["eq", "contains"] as const) {
      const answer = await request(writeTarget(filter(operator, value)), { key: "individual" });
      expect([answer.status, answer.json], operator).toEqual([200, []]);
    }
    const listing = filter("in", [first?.report_id, listed, second?.report_id].join("\n"), "report_id");
    const answer = await request(writeTarget(listing), { key: "individual" });
    expect(answer.json).toEqual(names.map(({ report_id }) => ({ report_id })));
  });

  it("part of a name in any case, and takes % and _ literally", async () => {
    const [row] = await query<{ part: string }>(
      `select lower(split_part(auditee_name, ' ', 2)) as part from disclosed.general
       where auditee_name ~ '^\\w+ \\w+ \\w+' order by report_id limit 1`,
    );
    const part = row?.part ?? "";
    const found = await query<{ report_id: string }>(
      "select report_id from disclosed.general where strpos(lower(auditee_name), $1) > 0 order by report_id limit 100",
      [part],
    );
    const ask = async (value: string) =>
      (await request(writeTarget(filter("contains", value)), { key: "individual" })).json;
    expect(found.length).toBeGreaterThan(0);
    expect(await ask(part)).toEqual(found);
    expect(await ask(`%${part}%`)).toEqual([]);
    expect(await ask("____")).toEqual([]);
  });

  it.each([
    ["audit_year", "text", "2023"],
    ["total_amount_expended", "bigint", "1000000"],
    ["fac_accepted_date", "date", "2023-06-30"],
    ["is_public", "boolean", "true"],
  ])("every operator for %s, a column of type %s", async (column, type, value) => {
    expect(listOperators(type).length).toBeGreaterThan(3);
    for (const operator of listOperators(type)) {
      const answer = await request(writeTarget(filter(operator, value, column)), { key: "individual" });
      expect(answer.status, `${operator}: ${answer.text.slice(0, 200)}`).toBe(200);
    }
  });
});

const programs: Record<Language, string[]> = {
  curl: ["/bin/sh", "-ec"],
  python: ["python3", "-c"],
  r: ["Rscript", "-e"],
  // tsx --eval compiles the snippet as CommonJS, as for a user without a package.json, so top-level `await` fails.
  typescript: [process.execPath, createRequire(import.meta.url).resolve("tsx/cli"), "-e"],
};
const runnable = clients.flatMap(({ language, missing }) =>
  missing ? [] : [language.toLowerCase() as Language],
);

describe("a snippet", () => {
  it.each(Object.keys(languages) as Language[])("in %s reads the visitor's key from API_KEY", (language) => {
    const text = writeSnippet(language, { url: "http://localhost/general", headers: {}, key: "own" });
    expect(text).toContain("API_KEY");
    expect(text).not.toContain("DEMO_KEY");
  });

  it.each(runnable)("in %s sends hostile values unchanged, and runs none of them", async (language) => {
    const value = hostile.join(" ");
    const snippet = writeSnippet(language, {
      url: target.baseUrl + writeTarget(filter("neq", value)),
      headers: { "accept-profile": "api_v1_1_0", prefer: `x=${value.replace(/[^ -~]/g, "")}` },
      key: "own",
    });
    const rows = (await request(writeTarget(filter("neq", "x")), { key: "individual" })).json;
    const [program = "", ...args] = programs[language];
    const env = { ...process.env, API_KEY: target.keys.individual };
    const printed = execFileSync(program, [...args, snippet], { env, encoding: "utf8" });
    if (language === "r") expect(printed).toContain(rows[0].report_id);
    else expect(JSON.parse(printed)).toEqual(rows);
  });
});
