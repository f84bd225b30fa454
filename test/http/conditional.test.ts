import { expect, it } from "vitest";
import { tables } from "../support/columns.ts";
import { type KeyName, keyNames, request } from "../support/target.ts";

const page = "/general?limit=3&select=report_id";
const get = (headers: Record<string, string> = {}, method = "GET") =>
  request(page, { key: "individual", method, headers });
const getEtag = async (key: KeyName = "individual") => String((await request(page, { key })).headers.etag);

it.each(tables)("%s has an ETag, and is kept by the client alone", async (table) => {
  const { headers } = await request(`/${table}?limit=1`, { key: "individual" });
  expect(headers.etag).toMatch(/^(W\/)?"[0-9a-f]{32}"$/);
  expect(headers["cache-control"]).toBe("private, no-cache");
  expect([headers.vary].join()).toMatch(/Accept-Profile/);
  expect(headers.etag).toBe(await getEtag());
});

it("the ETag is another for another tier", async () => {
  expect(new Set(await Promise.all(keyNames.map(getEtag))).size).toBe(3);
});

it.each([
  [304, "if-none-match", (etag: string) => [etag, `W/${etag}`, `"other", ${etag}`]],
  [200, "if-none-match", () => ['"other"', "*", "nonsense"]],
  [200, "if-match", (etag: string) => [etag, `W/${etag}`, `"other", ${etag}`, "*"]],
  [412, "if-match", () => ['"stale"']],
] as const)("%i answers %s", async (status, name, makeValues) => {
  const etag = await getEtag();
  for (const value of makeValues(etag)) {
    const answer = await get({ [name]: value });
    expect([answer.status, answer.headers.etag], value).toEqual([status, etag]);
    if (status === 200) expect(answer.json).toHaveLength(3);
    // A length of what is not sent breaks clients that keep connections.
    if (status === 304) expect([answer.text, answer.headers["content-length"]]).toEqual(["", undefined]);
    if (status === 412) expect(answer.json.code).toBe("data_set_changed");
    expect((await get({ [name]: value }, "HEAD")).status, value).toBe(status);
  }
});

it("the ETag of another tier does not match", async () => {
  expect((await get({ "if-none-match": await getEtag("tribal") })).status).toBe(200);
});
