import { describe, expect, it } from "vitest";
import { readSearch } from "../../site/search/read-search.ts";
import { isOfOtherTables, writeQuery } from "../../site/search/write-query.ts";
import { writeTarget } from "../../site/write-target.ts";
import { type KeyName, query, request } from "../support/target.ts";

// Clients find names by their words, without regard to case, accents, punctuation and order.

const ask = async (filter: string, key: KeyName = "individual") => {
  const { status, json } = await request(`/general?select=report_id&order=report_id&${filter}`, { key });
  expect(status, JSON.stringify(json)).toBe(200);
  return (json as { report_id: string }[]).map(({ report_id }) => report_id);
};

describe.each(["auditee_name", "auditor_firm_name"])("%s", (column) => {
  const words = column === "auditee_name" ? "words" : "auditor_words";

  it("is found by its words in another order and in lower case", async () => {
    const [row] = await query<{ words: string; ids: string[] }>(
      `select array_to_string(parts[3:] || parts[:2], ' ') as words,
         (select array_agg(report_id order by report_id) from disclosed.general where ${column} = name) as ids
       from (select min(${column}) as name, string_to_array(lower(min(${column})), ' ') as parts
         from disclosed.general where ${column} ~ '^\\w+ \\w+ \\w+( \\w+)*$' or ${column} ~ '^\\w+, \\w+ LLP') as chosen`,
    );
    const found = await ask(`${words}=plfts(names).${encodeURIComponent(row?.words ?? "")}`);
    expect(found).toEqual(expect.arrayContaining(row?.ids ?? ["none"]));
    for (const key of ["demo", "tribal"] as const)
      expect(await ask(`${words}=plfts(names).${encodeURIComponent(row?.words ?? "")}`, key)).toEqual(
        expect.arrayContaining(found),
      );
  });
});

it("a name with accents is found without them, and the other way round", async () => {
  const [row] = await query<{ accented: string; plain: string; id: string }>(
    `select word as accented, extensions.unaccent(word) as plain, report_id as id
     from disclosed.general, regexp_split_to_table(auditee_name, '\\s') as word
     where word ~ '^[[:alpha:]]*[^\\x01-\\x7f][[:alpha:]]*$' limit 1`,
  );
  const { accented, plain, id } = row ?? { accented: "", plain: "", id: "" };
  expect(accented).not.toBe(plain);
  const found = await ask(`words=plfts(names).${encodeURIComponent(plain.toLowerCase())}`);
  expect(found).toContain(id);
  expect(await ask(`words=plfts(names).${encodeURIComponent(accented)}`)).toEqual(found);
});

it("beginnings of words and alternatives work as in every full-text search", async () => {
  const all = await ask("words=plfts(names).county");
  expect(all.length).toBeGreaterThan(3);
  expect(await ask("words=fts(names).coun:*")).toEqual(expect.arrayContaining(all));
  expect(await ask("words=wfts(names).county%20or%20nothing-like-this")).toEqual(all);
  expect(await ask("words=not.plfts(names).county")).not.toContain(all[0]);
});

it("the words of suppressed submissions are found only with Tribal access", async () => {
  const [row] = await query<{ name: string; id: string }>(
    "select auditee_name as name, report_id as id from suppressed.general order by report_id limit 1",
  );
  const filter = `report_id=eq.${row?.id}&words=plfts(names).${encodeURIComponent(row?.name ?? "")}`;
  expect(await ask(filter, "tribal")).toEqual([row?.id]);
  expect(await ask(filter)).toEqual([]);
});

it("tables without names have no words", async () => {
  const { status, json } = await request("/findings?words=plfts(names).county", { key: "individual" });
  expect([status, json.code]).toEqual([400, "42703"]);
});

it.each([
  "polk county",
  "brown & o'dell, p.c.",
  "birchwood llp",
  "univ hous",
  "94-1234567",
  "abcdefgh1234",
  "Añasco",
  "Texas 2023",
  "93.778 California",
  "hhs 2022",
])(
  "the search of the pages for %s finds the same reports, and links to the request that does",
  async (text) => {
    for (const { criteria } of readSearch(text)) {
      const [row] = await query<{ found: { totals: number[] } }>(
        "select publication.search_reports($1) as found",
        [JSON.stringify([criteria])],
      );
      // The page has no request for all reports of other tables.
      if (isOfOtherTables(criteria)) continue;
      const asked = writeTarget({ ...writeQuery(criteria), limit: 20_000 });
      const { status, json } = await request(asked, { key: "individual" });
      expect(status, asked).toBe(200);
      const reports = new Set((json as { report_id: string }[]).map(({ report_id }) => report_id));
      expect(Math.min(reports.size, 1001), asked).toBe(row?.found.totals[0]);
    }
  },
);
