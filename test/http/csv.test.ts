import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Answer, query, request } from "../support/target.ts";

// PostgREST doubles each backslash in CSV. The gateway undoes that.

const report = "2023-06-GSAFAC-0000000002";
let original: string;
const write = (text: string) =>
  query("update disclosed.notes_to_sefa set accounting_policies = $1 where report_id = $2", [text, report]);
beforeAll(async () => {
  const [row] = await query<{ accounting_policies: string }>(
    "select accounting_policies from disclosed.notes_to_sefa where report_id = $1",
    [report],
  );
  if (row === undefined) throw new Error(`notes_to_sefa has no row of ${report}`);
  original = row.accounting_policies;
});
afterAll(() => write(original));

const page = `/notes_to_sefa?report_id=eq.${report}&select=accounting_policies&limit=1`;
async function ask(accept: string, headers: Record<string, string> = {}) {
  const answer = await request(page, { key: "individual", headers: { accept, ...headers } });
  expect([200, 206]).toContain(answer.status);
  return answer;
}
/** Reads the first column. */
function readCsv({ headers, bytes }: Answer): string[] {
  const csv = headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
  return parse(csv).map((fields) => fields[0] ?? "");
}

it("pages can be appended, and HEAD has the same ETag", async () => {
  const select = (options: string) => `/general?select=report_id,auditor_zip&${options}`;
  const read = (page: string, method = "GET") =>
    request(page, { method, key: "individual", headers: { accept: "text/csv" } });
  const [both, first, second] = [
    await read(select("limit=2")),
    await read(select("limit=1")),
    await read(select("limit=1&offset=1")),
  ];
  expect(both.text).toBe(first.text + second.text.slice(second.text.indexOf("\n") + 1));
  expect(both.text).toMatch(/[^\n]\n$/);
  const head = await read(select("limit=2"), "HEAD");
  expect([head.status, head.headers.etag, head.headers["content-length"]]).toEqual([
    200,
    both.headers.etag,
    undefined,
  ]);
});

const piece = fc.constantFrom(
  "\\",
  "\\\\",
  '"',
  '""',
  ",",
  "\n",
  "\r\n",
  "a",
  " ",
  "(",
  "\t",
  "é",
  "\\N",
  "\\.",
);
it("texts with backslashes, quotes, commas and line breaks are the same in CSV as in JSON", async () => {
  const text = fc.array(piece, { minLength: 1, maxLength: 30 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      await write(text);
      const { json } = await ask("application/json");
      expect(json).toEqual([{ accounting_policies: text }]);
      for (const headers of [{}, { "accept-encoding": "gzip" }, { prefer: "count=exact" }])
        expect(readCsv(await ask("text/csv", headers))).toEqual(["accounting_policies", text]);
    }),
    { numRuns: 60 },
  );
});

it.each([1, 2, 3])(
  "a long text with a backslash after each %i characters survives its chunks",
  async (every) => {
    const text = `${"x".repeat(every - 1)}\\`.repeat(300_000);
    await write(text);
    const [, read] = readCsv(await ask("text/csv"));
    expect(read === text).toBe(true);
  },
);

it.each([
  ["report_id", "report_id"],
  ["report_id,year:audit_year,total_amount_expended::text", "report_id,year,total_amount_expended"],
  ["*", ""],
  ["report_id,findings(award_reference)", ""],
])(
  "an empty result with select=%s is one line, with the column names if select lists them",
  async (select, names) => {
    const page = (filter: string) => `/general?${filter}&select=${select}`;
    const options = { key: "individual", headers: { accept: "text/csv" } } as const;
    const { text, headers } = await request(page("auditee_name=eq.none"), options);
    expect([text, headers["content-length"]]).toEqual([`${names}\n`, undefined]);
    const { text: rows } = await request(page("limit=1"), options);
    if (names !== "") expect(rows.split("\n")[0]).toBe(names);
  },
);
