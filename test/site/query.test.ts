import { describe, expect, it } from "vitest";
import { emptyQuery, listOperators, type Operator, operators, type Query } from "../../site/query.ts";
import { readTarget } from "../../site/read-target.ts";
import { type ApiRequest, type Language, languages, writeSnippet } from "../../site/request-snippets.ts";
import { writeTarget } from "../../site/write-target.ts";
import { query, request, target } from "../support/target.ts";
import { runnable, runSnippets } from "./run-snippet.ts";

// Requests as the explorer writes them, asked for real, with values that are also syntax somewhere.

const hostile = [
  "O'Brien, Inc.",
  'the "best" (county)',
  "a\\b\\",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is meant as it is
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
  columns: ["report_id"],
  filters: [{ column, operator, value }],
  order: [{ column: "report_id", direction: "asc" }],
});

describe("a query", () => {
  it.each(hostile)("with the value %j is read again as it was written", (value) => {
    const written = value.replace(/\p{Surrogate}/gu, "\ufffd");
    for (const operator of Object.keys(operators) as Operator[]) {
      const asked = filter(operator, operator.includes("is.") ? "" : value);
      const read = readTarget(writeTarget(asked));
      expect(writeTarget(read)).toBe(writeTarget(asked));
      // A * within what is contained makes it a pattern.
      if (operator === "contains" && value.includes("*")) continue;
      const [first] = asked.filters;
      expect(read).toEqual({ ...asked, filters: [{ ...first, value: first?.value && written }] });
    }
  });

  it("keeps what the form has no field for, and leaves a key out", () => {
    const extra = "and=(a.eq.1,b.eq.2)&limit=-1&select=*,x(*,y(*))&a=fts.b&c=in.(%22%20d%22)&e=like.f%25g";
    const read = readTarget(
      `/general?api_key=secret&${extra}&order=a.desc,b.desc.nullslast,c.asc.nullsfirst`,
    );
    expect(read).toEqual({
      ...emptyQuery,
      extra,
      order: [
        { column: "a", direction: "desc" },
        { column: "b", direction: "desc.nullslast" },
        { column: "c", direction: "asc.nullsfirst" },
      ],
    });
    expect(writeTarget(read)).toBe(`/general?order=a.desc,b.desc.nullslast,c.asc.nullsfirst&${extra}`);
    expect(writeTarget({ ...emptyQuery, extra: "?x=a b&api_key=secret" })).toBe("/general?x=a%20b&limit=20");
  });

  it.each([
    [
      "select=a,general(b,c),findings(*)",
      ["a"],
      [
        ["general", "b,c"],
        ["findings", ""],
      ],
    ],
    ["select=*,general(b)", [], [["general", "b"]]],
  ] as const)("reads the embedded tables of %s", (search, columns, embeds) => {
    const read = readTarget(`/federal_awards?${search}&limit=20`);
    expect(read.columns).toEqual(columns);
    expect(read.embeds.map((each) => [each.table, each.columns.join(",")])).toEqual(embeds);
    expect(writeTarget(read)).toBe(`/federal_awards?${search}&limit=20`);
  });

  it.each(["select=general(b)", "select=a,a:b", "select=a::text", "select=a,*", "select=x!inner(*)"])(
    "does not take %s for something that it has a field for",
    (search) => {
      expect(readTarget(`/federal_awards?${search}`)).toMatchObject({ columns: [], embeds: [] });
      expect(decodeURIComponent(writeTarget(readTarget(`/federal_awards?${search}`)))).toContain(search);
    },
  );

  it.each(["report_id\nreport_id", "/general", "/", "", "/%zz?x"])(
    "is read of %j without an error",
    (text) => {
      expect(() => readTarget(text)).not.toThrow();
    },
  );
});

describe("the API takes", () => {
  it.each(hostile)("the value %j for what it is", async (value) => {
    const listed = value.replace("\n", " ").replace(/\p{Surrogate}/gu, "\ufffd");
    const names = await query<{ report_id: string; auditee_name: string }>(
      "select report_id, auditee_name from disclosed.general order by report_id limit 2",
    );
    const [first, second] = names;
    for (const operator of ["eq", "like", "ilike", "contains"] as const) {
      const answer = await request(writeTarget(filter(operator, value)), { key: "individual" });
      expect([answer.status, answer.json], operator).toEqual([200, []]);
    }
    const listing = filter("in", [first?.report_id, listed, second?.report_id].join("\n"), "report_id");
    const answer = await request(writeTarget(listing), { key: "individual" });
    expect(answer.json).toEqual(names.map(({ report_id }) => ({ report_id })));
  });

  it("* in like as any text, and % and _ as themselves", async () => {
    const [row] = await query<{ auditee_name: string; rows: number }>(
      `select split_part(auditee_name, ' ', 2) as auditee_name from disclosed.general
       where auditee_name ~ '^\\w+ \\w+ \\w+' order by report_id limit 1`,
    );
    const found = await query<{ report_id: string }>(
      "select report_id from disclosed.general where strpos(lower(auditee_name), lower($1)) > 0 order by report_id limit 20",
      [row?.auditee_name],
    );
    const ask = async (value: string) =>
      (await request(writeTarget(filter("ilike", value)), { key: "individual" })).json;
    expect(found.length).toBeGreaterThan(0);
    expect(await ask(`*${row?.auditee_name}*`)).toEqual(found);
    const contained = writeTarget(filter("contains", row?.auditee_name ?? ""));
    expect((await request(contained, { key: "individual" })).json).toEqual(found);
    expect(await ask(`%${row?.auditee_name}%`)).toEqual([]);
    expect(await ask("____*")).toEqual([]);
  });

  it.each([
    ["audit_year", "text", "2023"],
    ["total_amount_expended", "bigint", "1000000"],
    ["fac_accepted_date", "date", "2023-06-30"],
    ["is_public", "boolean", ""],
  ])("every operator for %s, a column of type %s", async (column, type, value) => {
    expect(listOperators(type).length).toBeGreaterThan(3);
    for (const operator of listOperators(type)) {
      const answer = await request(writeTarget(filter(operator, value, column)), { key: "individual" });
      expect(answer.status, `${operator}: ${answer.text.slice(0, 200)}`).toBe(200);
    }
  });
});

describe("a snippet", () => {
  it.each(Object.keys(languages) as Language[])("in %s never holds one's own key", (language) => {
    const text = writeSnippet(language, { url: "http://localhost/general", headers: {}, key: "own" });
    expect(text).toContain("API_KEY");
    expect(text).not.toContain("DEMO_KEY");
  });

  it.each(runnable)("in %s asks for hostile values and nothing else", async (language) => {
    const requests = hostile.map(
      (value): ApiRequest => ({
        url: target.baseUrl + writeTarget(filter("neq", value)),
        headers: { "accept-profile": "api_v1_1_0", prefer: `x=${value.replace(/[^ -~]/g, "")}` },
        key: "own",
      }),
    );
    const rows = (await request(writeTarget(filter("neq", "x")), { key: "individual" })).json;
    const env = { API_KEY: target.keys.individual };
    const printed = await runSnippets(
      language,
      requests.map((each) => writeSnippet(language, each)),
      env,
    );
    for (const text of printed.slice(0, hostile.length)) {
      if (language === "r") expect(text).toContain(rows[0].report_id);
      else expect(JSON.parse(text)).toEqual(rows);
    }
  });
});
