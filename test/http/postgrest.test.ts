import { beforeAll, describe, expect, it } from "vitest";
import { columnNames } from "../support/columns.ts";
import { findReport, query, request } from "../support/target.ts";

// Clients of PostgREST work unchanged: nothing between them and it changes what it answers.

const get = (path: string, headers: Record<string, string> = {}) =>
  request(path, { key: "individual", headers });
let published: string;

beforeAll(async () => {
  published = await findReport(true);
});

describe("representations", () => {
  it("offer CSV", async () => {
    const answer = await get("/general?limit=2", { accept: "text/csv" });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(answer.text.split("\n")[0]).toBe(columnNames("general").join(","));
  });

  it("offer a single object, and 406 where there is not exactly one", async () => {
    const accept = "application/vnd.pgrst.object+json";
    const one = await get(`/general?report_id=eq.${published}`, { accept });
    expect(one.status).toBe(200);
    expect(one.headers["content-type"]).toMatch(accept);
    expect(one.json.report_id).toBe(published);
    const many = await get("/general?limit=2", { accept });
    expect([many.status, many.json.code]).toEqual([406, "PGRST116"]);
  });

  it("are refused where PostgREST has none", async () => {
    const answer = await get("/general?limit=1", { accept: "application/xml" });
    expect(answer.json.code).toBe("PGRST107");
    // PostgREST 12.0.3 and newer say 406.
    expect([406, 415]).toContain(answer.status);
  });
});

describe("pages", () => {
  it("are cut at exactly 20,000 rows", async () => {
    const [{ rows } = { rows: 0 }] = await query<{ rows: number }>(
      "select least(count(*), 20000)::integer as rows from disclosed.federal_awards",
    );
    for (const limit of ["", "&limit=40000"]) {
      const answer = await get(`/federal_awards?select=report_id${limit}`);
      expect(answer.status).toBe(200);
      expect(answer.json).toHaveLength(rows);
      expect(answer.headers["content-range"]).toBe(`0-${rows - 1}/*`);
    }
  });

  it.each(["json_agg", "jsonb_agg", "json_agg_strict", "jsonb_agg_strict", "array_agg", "any_value"])(
    "are not got round by taking a whole table for a column: %s",
    async (name) => {
      for (const path of [
        `/federal_awards?select=${name}`,
        `/general?select=federal_awards(${name})&limit=1`,
      ]) {
        const answer = await get(path);
        expect([answer.status, answer.json.code], path).toEqual([400, "42703"]);
      }
    },
  );

  it("of few columns have the order of the table as well", async () => {
    const [first] = (await get("/general?limit=1")).json;
    for (const limit of [1, 2, 50]) {
      const [row] = (await get(`/general?select=report_id&limit=${limit}`)).json;
      expect(row.report_id).toBe(first.report_id);
    }
  });

  it("neither overlap nor miss rows, and keep the order of the table", async () => {
    const path = "/federal_awards?select=report_id,award_reference";
    const walked: unknown[] = [];
    for (let offset = 0; ; offset += 5000) {
      const answer = await get(`${path}&limit=5000&offset=${offset}`);
      expect(answer.status).toBe(200);
      if (answer.json.length === 0) break;
      walked.push(...answer.json);
    }
    const rows = await query("select report_id, award_reference from disclosed.federal_awards order by ctid");
    expect(walked).toEqual(rows);
  });

  it("are answered to Range as to limit and offset", async () => {
    const answer = await get("/general?select=report_id", { "range-unit": "items", range: "2-4" });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-range"]).toBe("2-4/*");
    expect(answer.json).toEqual((await get("/general?select=report_id&limit=3&offset=2")).json);
  });

  it("past the end are empty without a count and 416 with one", async () => {
    const path = "/general?select=report_id&offset=10000000";
    const empty = await get(path);
    expect([empty.status, empty.json]).toEqual([200, []]);
    const counted = await get(path, { prefer: "count=exact" });
    expect([counted.status, counted.json.code]).toEqual([416, "PGRST103"]);
  });

  it.each(["exact", "planned", "estimated"])("carry a total with Prefer: count=%s", async (count) => {
    const answer = await get("/general?select=report_id&limit=2", { prefer: `count=${count}` });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toMatch(/^0-1\/\d+$/);
  });
});

describe("filters", () => {
  const general = (filter: string) =>
    get(`/general?select=report_id,audit_year,auditee_state,auditee_name&${filter}`);
  const rowsOf = async (filter: string) => {
    const answer = await general(filter);
    expect(answer.status, filter).toBe(200);
    expect(answer.json.length, filter).toBeGreaterThan(0);
    return answer.json as {
      report_id: string;
      audit_year: string;
      auditee_state: string;
      auditee_name: string;
    }[];
  };

  it("take the operators of PostgREST", async () => {
    for (const row of await rowsOf("audit_year=gte.2022&audit_year=lte.2023&limit=50")) {
      expect(["2022", "2023"]).toContain(row.audit_year);
    }
    for (const row of await rowsOf("or=(auditee_state.eq.CA,auditee_state.eq.TX)&limit=50")) {
      expect(["CA", "TX"]).toContain(row.auditee_state);
    }
    for (const row of await rowsOf(
      "and=(audit_year.eq.2023,or(auditee_state.eq.CA,auditee_state.eq.NY))&limit=50",
    )) {
      expect(row.audit_year).toBe("2023");
    }
    for (const row of await rowsOf("auditee_state=not.eq.CA&is_public=eq.true&limit=50")) {
      expect(row.auditee_state).not.toBe("CA");
    }
    for (const row of await rowsOf("auditee_state=in.(CA,TX)&limit=50")) {
      expect(["CA", "TX"]).toContain(row.auditee_state);
    }
    for (const row of await rowsOf("auditee_name=ilike(any).{*county*,*city*}&limit=50")) {
      expect(row.auditee_name).toMatch(/county|city/i);
    }
    for (const row of await rowsOf("auditee_name=fts.county&limit=50")) {
      expect(row.auditee_name).toMatch(/count/i);
    }
  });

  it("are ordered as asked, nulls included", async () => {
    const answer = await get(
      "/general?select=report_id,total_amount_expended&order=total_amount_expended.desc.nullslast,report_id.asc&limit=100",
    );
    const amounts = answer.json.map((row: { total_amount_expended: number }) => row.total_amount_expended);
    expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
  });

  it("that are wrong get PostgREST's own 400", async () => {
    for (const [filter, code] of [
      ["audit_year=2023", "PGRST100"],
      ["no_such_column=eq.1", "42703"],
      ["fac_accepted_date=eq.yesterdayish", "22007"],
    ]) {
      const answer = await get(`/general?${filter}`);
      expect([answer.status, answer.json.code], filter).toEqual([400, code]);
    }
  });

  it("take a URL of 7 KB and more", async () => {
    for (const length of [7_000, 25_000]) {
      const long = await get(`/general?select=report_id&auditee_name=eq.${"a".repeat(length)}`);
      expect([long.status, long.json]).toEqual([200, []]);
    }
    const ids = Array.from(
      { length: 250 },
      (_, index) => `2023-06-GSAFAC-${String(index).padStart(10, "0")}`,
    );
    const answer = await get(`/general?select=report_id&report_id=in.(${ids.join(",")})`);
    expect(answer.status).toBe(200);
  });
});

describe("embedding", () => {
  it("brings the submission of a row, as an object", async () => {
    const answer = await get("/federal_awards?select=report_id,general(auditee_name)&limit=3");
    expect(answer.status).toBe(200);
    for (const row of answer.json) expect(typeof row.general.auditee_name).toBe("string");
  });

  it("brings the rows of a submission, as an array", async () => {
    const answer = await get(
      `/general?report_id=eq.${published}&select=report_id,federal_awards(award_reference)`,
    );
    expect(answer.json[0].federal_awards.length).toBeGreaterThan(0);
  });

  it("filters by what is embedded with !inner", async () => {
    const answer = await get(
      "/federal_awards?select=report_id,general!inner(auditee_state)&general.auditee_state=eq.CA&limit=20",
    );
    expect(answer.json.length).toBeGreaterThan(0);
    for (const row of answer.json) expect(row.general.auditee_state).toBe("CA");
  });
});

describe("a browser on another origin", () => {
  it("may ask, and may read what PostgREST and the gateway tell in headers", async () => {
    const origin = "https://notebook.example";
    const preflight = await request("/general", {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-api-key",
      },
    });
    expect(preflight.status).toBe(200);
    expect(preflight.headers["access-control-allow-headers"]).toContain("x-api-key");
    const answer = await get("/general?limit=1", { origin });
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(String(answer.headers["access-control-expose-headers"]).toLowerCase()).toContain("content-range");
  });
});

describe("compression", () => {
  it("is used for clients that take it", async () => {
    const answer = await get("/general?limit=100", { "accept-encoding": "gzip" });
    expect(answer.headers["content-encoding"]).toBe("gzip");
    expect(answer.headers.etag).toMatch(/^W\//);
  });
});
