import { describe, expect, it } from "vitest";
import { tables } from "../support/columns.ts";
import { keyNames, request } from "../support/target.ts";

const page = "/general?limit=3&select=report_id";
const getEtag = async (key: "demo" | "individual" | "tribal") =>
  String((await request(page, { key })).headers.etag);

describe("an ETag", () => {
  it("comes with each 200 of each table", async () => {
    for (const table of tables) {
      const answer = await request(`/${table}?limit=1`, { key: "individual" });
      expect(answer.headers.etag, table).toMatch(/^(W\/)?"[0-9a-f]{32}"$/);
      expect(answer.headers["cache-control"]).toBe("private, no-cache");
      expect([answer.headers.vary].join()).toMatch(/Accept-Profile/);
    }
  });

  it("is the same for all pages of a data set, and another for another tier", async () => {
    const etags = new Set(await Promise.all(keyNames.map(getEtag)));
    expect(etags.size).toBe(3);
    expect(await getEtag("individual")).toBe(
      (await request("/findings?limit=2", { key: "individual" })).headers.etag,
    );
  });
});

describe("If-None-Match", () => {
  it.each(["GET", "HEAD"])("with the ETag is answered with 304 and no body to %s", async (method) => {
    const etag = await getEtag("individual");
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const answer = await request(page, { method, key: "individual", headers: { "if-none-match": value } });
      expect(answer.status, value).toBe(304);
      expect(answer.text).toBe("");
      expect(answer.headers.etag).toBe(etag);
    }
  });

  it("with another tag is answered in full", async () => {
    for (const value of ['"other"', await getEtag("tribal"), "*", "nonsense"]) {
      const answer = await request(page, { key: "individual", headers: { "if-none-match": value } });
      expect(answer.status, value).toBe(200);
      expect(answer.json).toHaveLength(3);
    }
  });
});

describe("If-Match", () => {
  it("with the ETag is answered in full", async () => {
    const etag = await getEtag("individual");
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      expect((await request(page, { key: "individual", headers: { "if-match": value } })).status, value).toBe(
        200,
      );
    }
  });

  it("with a stale tag is answered with 412", async () => {
    const answer = await request(page, { key: "individual", headers: { "if-match": '"stale"' } });
    expect(answer.status).toBe(412);
    expect(answer.headers.etag).toBe(await getEtag("individual"));
    expect(answer.json.code).toBe("data_set_changed");
  });
});
