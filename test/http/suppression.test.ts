import { beforeAll, describe, expect, it } from "vitest";
import { childTables, tables } from "../support/columns.ts";
import { type KeyName, keyNames, query, queryValue, request } from "../support/target.ts";

// What each key sees of public and suppressed reports in every table, compared with the database.

interface Held {
  disclosed: string[];
  suppressed: string[];
}
const held: Record<string, Held> = {};
beforeAll(async () => {
  for (const table of tables) {
    const list = (schema: string) =>
      queryValue<string[]>(
        `select array(select distinct report_id from ${schema}.${table} order by report_id limit 20)`,
      );
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
        const filter = `report_id=eq.${row?.report_id}&${column}=not.is.null`;
        expect((await request(`/general?${filter}`, { key })).json, column).toEqual([]);
      }
    },
  );

  it("counts suppressed rows for nobody who may not see them", async () => {
    const rows = await queryValue("select count(*) from disclosed.federal_awards");
    const headers = { prefer: "count=exact" };
    const answer = await request("/federal_awards?limit=1", { key: "individual", headers });
    expect(answer.headers["content-range"]).toBe(`0-0/${rows}`);
  });

  it("embeds nothing of a suppressed report for a key without Tribal access", async () => {
    const report = held.federal_awards?.suppressed[0];
    const path = `/general?report_id=eq.${report}&select=report_id,federal_awards(award_reference)`;
    const embed = async (key: KeyName) => (await request(path, { key })).json;
    expect(await embed("individual")).toEqual([{ report_id: report, federal_awards: [] }]);
    expect((await embed("tribal"))[0].federal_awards.length).toBeGreaterThan(0);
  });
});
