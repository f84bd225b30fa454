import type { IncomingMessage } from "node:http";
import { beforeAll, expect, it, test } from "vitest";
import { keys, readKongYml, send, startGateway, startUpstream, unlimited, useGateways } from "./gateways.ts";

// What PostgREST gets of a query, so that its pages neither overlap nor skip rows.

useGateways();
let url: string;
let received: { url?: string | undefined; headers: IncomingMessage["headers"] };
beforeAll(async () => {
  const upstream = await startUpstream((incoming, response) => {
    received = { url: incoming.url, headers: incoming.headers };
    response.end("[]");
  });
  ({ url } = await startGateway(await readKongYml(unlimited), upstream));
});

const ask = (path: string, method = "GET", headers = {}) =>
  send(url, path, { method, headers: { "x-api-key": keys.standard, ...headers } });
const forward = async (path: string, method = "GET", headers = {}) => {
  expect((await ask(path, method, headers)).status).toBe(200);
  return { order: decodeURIComponent(received.url ?? ""), rows: received.headers["x-row-order"] };
};

test.each([
  // The key, in the direction of the last column; row numbers always ascend.
  ["/federal_awards?order=audit_year", "/federal_awards?order=audit_year,report_id,award_reference"],
  ["/federal_awards?order=a,b.desc", "/federal_awards?order=a,b.desc,report_id.desc,award_reference.desc"],
  [
    "/findings?order=report_id.desc",
    "/findings?order=report_id.desc,award_reference.desc,reference_number.desc",
  ],
  ["/findings_text?order=audit_year.desc", "/findings_text?order=audit_year.desc,row_number"],
  ["/totals_by_program?order=awards.desc", "/totals_by_program?order=awards.desc,aln.desc,audit_year.desc"],
  ['/general?order="report_id".asc', '/general?order="report_id".asc'],
  ["/general?order=a->>b,report_id.desc,c", "/general?order=a->>b,report_id.desc,c"],
  ["/general?order=report_id->x", "/general?order=report_id->x,report_id"],
  ['/general?order="a,b\\"(".desc.nullsfirst', '/general?order="a,b\\"(".desc.nullsfirst,report_id.desc'],
  ["/general?order=a&order=b;limit=1", "/general?order=a,report_id&order=b,report_id&limit=1"],
  [
    "/general?select=audit_year&order= a , b &x=eq.ä",
    "/general?select=audit_year&order=a,b,report_id&x=eq.ä",
  ],
  // Nulls of general.
  ["/general?order=audit_year.desc", "/general?order=audit_year.desc.nullslast,report_id.desc"],
  ["/general?order=is_public.desc,report_id.desc", "/general?order=is_public.desc,report_id.desc"],
  [
    "/findings?order=general(x).desc&select=general(x)",
    "/findings?order=general(x).desc.nullslast,report_id.desc,award_reference.desc,reference_number.desc&select=general(x)",
  ],
  [
    "/findings?order=g(x).desc.nullsfirst&select=g:general(x)",
    "/findings?order=g(x).desc.nullsfirst,report_id.desc,award_reference.desc,reference_number.desc&select=g:general(x)",
  ],
  // Embedded lists, by name, by alias, within others, and if a request reads a part of one.
  [
    "/general?select=federal_awards(*)&federal_awards.order=amount_expended",
    "/general?select=federal_awards(*)&federal_awards.order=amount_expended,report_id,award_reference",
  ],
  [
    "/general?select=f:findings!inner(t:findings_text(*))&f.t.order=x.desc",
    "/general?select=f:findings!inner(t:findings_text(*))&f.t.order=x.desc,row_number",
  ],
  [
    "/general?select=f:findings(*)&f.limit=1&f.offset=2",
    "/general?select=f:findings(*)&f.limit=1&f.offset=2&f.order=report_id,award_reference,reference_number",
  ],
  [
    "/general?select=*&findings.order=x&findings.limit=1",
    "/general?select=*&findings.order=x&findings.limit=1",
  ],
  // What cannot be read stays for PostgREST to refuse, and so do other tables and versions.
  ['/general?order="a', '/general?order="a'],
  ["/general?order=a(b", "/general?order=a(b"],
  ["/general?order=", "/general?order="],
  ["/no_such_table?order=a", "/no_such_table?order=a"],
])("%s becomes %s", async (path, completed) => {
  const encoded = encodeURI(path);
  expect((await forward(encoded)).order).toBe(completed);
  expect((await forward(encoded, "HEAD")).order).toBe(completed);
  expect((await forward(encoded, "GET", { "accept-profile": "api_v1_1_0" })).order).toBe(completed);
  expect((await forward(encoded, "GET", { "accept-profile": "api_v0" })).order).toBe(path);
});

test.each<[path: string, method: string, rows: string | undefined]>([
  ["/general?limit=1&select=*,findings(*)&findings.audit_year=eq.2023", "GET", undefined],
  ["/general?audit_year=eq.2023", "GET", "file"],
  ["/general?not.or=(audit_year.eq.2023)", "GET", "file"],
  ["/general?audit_year=eq.2023&order=audit_year", "GET", "any"],
  ["/general?audit_year=eq.2023", "HEAD", "any"],
  ["/general?audit_year=eq.2023&limit=0", "GET", "any"],
  ["/general?audit_year=eq.2023&limit=0&limit=1", "GET", "file"],
  ["/general?audit_year=eq.2023&select=*,findings(*)&findings.limit=0", "GET", "file"],
  ["/general?report_id=eq.X", "GET", "any"],
  ["/general?report_id=gt.X", "GET", "file"],
  ["/general?report_id=not.eq.X", "GET", "file"],
  ["/federal_awards?report_id=eq.X", "GET", "file"],
  ["/federal_awards?report_id=eq.X&award_reference=eq.Y&report_id=gt.A", "GET", "any"],
])("%s (%s) tells PostgreSQL to keep this order: %s", async (path, method, rows) => {
  expect((await forward(path, method, { "x-row-order": "forged" })).rows).toBe(rows);
});

it("tells PostgreSQL by which rules it completes orders, whatever the client says", async () => {
  await forward("/general", "GET", { "x-order-rules": "forged" });
  expect(received.headers["x-order-rules"]).toMatch(/^[0-9a-f]{64}$/);
});

it("refuses an order whose key does not fit", async () => {
  const path = `/general?auditee_name=eq.${"x".repeat(31_970)}&order=a`;
  expect(path.length).toBeLessThan(32_000 + "/general?".length);
  const { status, body } = await ask(path);
  expect([status, JSON.parse(body).message]).toEqual([400, "The query string is too long."]);
});
