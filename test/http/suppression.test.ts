import { beforeAll, describe, expect, it } from "vitest";
import { childTables, tables } from "../support/columns.ts";
import { type KeyName, keyNames, query, request } from "../support/target.ts";

// What each key sees of public and suppressed reports in every table, compared with the database.

interface Held {
  disclosed: string[];
  suppressed: string[];
}
const held: Record<string, Held> = {};
interface Row {
  audit_year: string;
  amount_expended: number;
}

beforeAll(async () => {
  for (const table of tables) {
    const list = async (schema: string) =>
      (
        await query<{ report_id: string }>(
          `select distinct report_id from ${schema}.${table} order by report_id limit 20`,
        )
      ).map(({ report_id }) => report_id);
    held[table] = { disclosed: await list("disclosed"), suppressed: await list("suppressed") };
  }
});

const seen = async (table: string, key: KeyName, reports: string[]): Promise<string[]> => {
  if (reports.length === 0) return [];
  const answer = await request(`/${table}?report_id=in.(${reports.join(",")})&select=report_id`, { key });
  expect(answer.status).toBe(200);
  return [...new Set<string>(answer.json.map(({ report_id }: { report_id: string }) => report_id))].sort();
};

it.each(childTables)(
  "%s shows public reports to all, and suppressed ones to the Tribal key alone",
  async (table) => {
    const { disclosed = [], suppressed = [] } = held[table] ?? {};
    for (const key of keyNames) {
      expect(await seen(table, key, disclosed), key).toEqual(disclosed);
      expect(await seen(table, key, suppressed), key).toEqual(key === "tribal" ? suppressed : []);
    }
  },
);

describe("totals", () => {
  it("count what the public can read, whoever asks", async () => {
    const years = new Map<string, number[]>();
    const sources = [
      ["/general?is_public=is.true&select=audit_year", () => [1, 0, 0]],
      ["/federal_awards?select=audit_year,amount_expended", (row: Row) => [0, 1, row.amount_expended]],
    ] as const;
    for (const [target, count] of sources) {
      for (let offset = 0, isMore = true; isMore; offset += 20_000) {
        const { json: rows } = await request(`${target}&limit=20000&offset=${offset}`, { key: "individual" });
        for (const row of rows as Row[]) {
          const sums = years.get(row.audit_year) ?? [0, 0, 0];
          years.set(
            row.audit_year,
            count(row).map((value, index) => value + (sums[index] ?? 0)),
          );
        }
        isMore = rows.length === 20_000;
      }
    }
    for (const key of ["individual", "tribal"] as const) {
      const { json: totals } = await request("/totals_by_state", { key });
      const seenSums = new Map<string, number[]>();
      for (const { audit_year, submissions, awards, amount_expended } of totals) {
        const sums = seenSums.get(audit_year) ?? [0, 0, 0];
        seenSums.set(
          audit_year,
          [submissions, awards, amount_expended].map((value, index) => value + (sums[index] ?? 0)),
        );
      }
      expect([...seenSums].sort()).toEqual([...years].sort());
    }
  });
});

describe("general", () => {
  it.each(keyNames)("lists suppressed and public reports to the %s key", async (key) => {
    const { disclosed = [], suppressed = [] } = held.general ?? {};
    expect(await seen("general", key, disclosed)).toEqual(disclosed);
    expect(await seen("general", key, suppressed)).toEqual(suppressed);
  });

  it.each(["demo", "individual"] as const)(
    "tells the %s key no value of a suppressed report by any filter",
    async (key) => {
      const [row] = await query<Record<string, unknown>>("select * from suppressed.general limit 1");
      for (const [column, value] of Object.entries(row ?? {})) {
        if (value === null || value === "" || column === "report_id" || column === "is_public") continue;
        const answer = await request(
          `/general?report_id=eq.${row?.report_id}&${column}=not.is.null&select=report_id`,
          { key },
        );
        expect(answer.json, column).toEqual([]);
      }
    },
  );

  it("counts suppressed rows for nobody who may not see them", async () => {
    const [{ rows } = { rows: -1 }] = await query<{ rows: number }>(
      "select count(*)::integer as rows from disclosed.federal_awards",
    );
    const answer = await request("/federal_awards?limit=1", {
      key: "individual",
      headers: { prefer: "count=exact" },
    });
    expect(answer.headers["content-range"]).toBe(`0-0/${rows}`);
  });

  it("embeds nothing of a suppressed report for a key without Tribal access", async () => {
    const report = held.federal_awards?.suppressed[0];
    const path = `/general?report_id=eq.${report}&select=report_id,federal_awards(award_reference)`;
    expect((await request(path, { key: "individual" })).json).toEqual([
      { report_id: report, federal_awards: [] },
    ]);
    const [full] = (await request(path, { key: "tribal" })).json;
    expect(full.federal_awards.length).toBeGreaterThan(0);
  });
});

describe("a chain of public and suppressed submissions", () => {
  it.each([
    ["later", "previous_report_id"],
    ["earlier", "next_report_id"],
  ])("is in the data set, with a suppressed submission that is the %s one", async (_which, link) => {
    const rows = await query(
      `select from suppressed.resubmission join disclosed.general on general.report_id = resubmission.${link}`,
    );
    expect(rows.length).toBeGreaterThan(0);
  });

  it.each(["demo", "individual"] as const)("does not look like one to the %s key", async (key) => {
    const ask = async (path: string) => (await request(path, { key })).json;
    expect(await ask("/resubmission?status=eq.deprecated_via_resubmission&next_report_id=is.null")).toEqual(
      [],
    );
    expect(await ask("/resubmission?version=gt.1&previous_report_id=is.null")).toEqual([]);
    const versioned = await ask(
      "/general?resubmission_version=gt.0&select=report_id,resubmission(version,status)",
    );
    expect(versioned.length).toBeGreaterThan(0);
    for (const { resubmission } of versioned)
      expect(resubmission).toEqual([{ version: expect.any(Number), status: "most_recent" }]);
  });

  it("is told in full to the Tribal key, of its suppressed members", async () => {
    const [row] = await query<{ report_id: string; previous_report_id: string; version: string }>(
      `select resubmission.report_id, resubmission.previous_report_id, resubmission.version
       from suppressed.resubmission join disclosed.general on general.report_id = resubmission.previous_report_id
       limit 1`,
    );
    const path = `/resubmission?report_id=eq.${row?.report_id}&select=report_id,previous_report_id,version`;
    expect((await request(path, { key: "tribal" })).json).toEqual([
      { ...row, version: Number(row?.version) },
    ]);
    expect((await request(path, { key: "individual" })).json).toEqual([]);
  });
});
