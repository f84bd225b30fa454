import { createConfig, lintFromString } from "@redocly/openapi-core";
import { beforeAll, expect, it } from "vitest";
import { columnNames, tables as reportTables } from "../support/columns.ts";
import { keyNames, request, send, target } from "../support/target.ts";

// /openapi.json describes the whole service for client generators.

// biome-ignore lint/suspicious/noExplicitAny: the tests assert its shape.
let document: any;
let etag: string;
beforeAll(async () => {
  const { json, headers } = await send(target.appUrl, "/openapi.json");
  [document, etag] = [json, String(headers.etag)];
});

it("needs no key, and answers 304 to a client that has the current version", async () => {
  const answer = await send(target.appUrl, "/openapi.json", { headers: { "if-none-match": etag } });
  expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([304, "*"]);
});

it("is valid OpenAPI 3.1", async () => {
  expect(document.openapi).toBe("3.1.0");
  // Downloads respond with redirects, not with 2xx.
  const rules = { "operation-2xx-response": "off" } as const;
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  expect(problems.map((it) => [it.ruleId, it.message, it.location[0]?.pointer])).toEqual([]);
});

it("has the tables, columns, types and texts of PostgREST's description, and both name the gateway", async () => {
  const { json: own } = await request("/", { key: "individual" });
  expect(`${own.schemes[0]}://${own.host}`).toBe(target.baseUrl.replace(/\/$/, ""));
  expect(document.servers[0].url).toBe(target.baseUrl.replace(/\/$/, ""));
  const tables = Object.keys(own.definitions).sort();
  const described = Object.keys(document.paths).filter((name) => /^\/(?!readyz$)[a-z_]+$/.test(name));
  expect(described.sort()).toEqual(tables.map((table) => `/${table}`));
  for (const table of tables) {
    const { properties } = document.components.schemas[table];
    const { parameters, responses } = document.paths[`/${table}`].get;
    const items = { $ref: `#/components/schemas/${table}` };
    expect(responses[200].content["application/json"].schema).toEqual({ type: "array", items });
    const columns = Object.entries<{ type: string; description: string }>(own.definitions[table].properties);
    expect(Object.keys(properties)).toEqual(columns.map(([name]) => name));
    for (const [name, { type, description }] of columns) {
      expect([properties[name].type].flat()[0], `${table}.${name}`).toBe(type);
      // PostgREST adds a note to key columns.
      expect(description).toContain(properties[name].description);
      expect(parameters).toContainEqual(expect.objectContaining({ name, in: "query" }));
    }
  }
});

it("lets a column be null unless constraints forbid it, and no key gets null in the others", async () => {
  for (const [table, { properties }] of Object.entries<{ properties: Record<string, { type: unknown }> }>(
    document.components.schemas,
  )) {
    if (!(`/${table}` in document.paths)) continue;
    const required = Object.keys(properties).filter((name) => !Array.isArray(properties[name]?.type));
    const ids = ["report_id", "auditee_uei", "row_number"].filter((name) =>
      columnNames(table).includes(name),
    );
    const ofTable = reportTables.includes(table) ? ids : [];
    expect(required.sort(), table).toEqual(table === "general" ? ["is_public", "report_id"] : ofTable.sort());
    if (required.length === 0) continue;
    const isNull = required.map((name) => `${name}.is.null`);
    for (const key of keyNames.filter((name) => name !== "demo")) {
      const { json } = await request(`/${table}?or=(${isNull})&limit=1`, { key });
      expect(json, table).toEqual([]);
    }
  }
});

it("names only headers that pages of other origins may read", async () => {
  const { headers } = await request("/general?limit=1", {
    key: "individual",
    headers: { origin: "https://example.org" },
  });
  const exposed = String(headers["access-control-expose-headers"]).split(",");
  // Browsers follow redirects themselves, and let all pages read Last-Modified.
  const { Location: _, "Last-Modified": __, ...named } = document.components.headers;
  expect(exposed).toEqual(expect.arrayContaining(Object.keys(named).map((name) => name.toLowerCase())));
});

it("lists the status that each path responds with", async () => {
  type Operations = Record<string, { responses: object; security?: [] }>;
  const body = { body: '{"report_id":"x"}', headers: { "content-type": "application/json" } };
  for (const [name, { get, post }] of Object.entries<Operations>(document.paths)) {
    const url = name.replace(/\{\w+\}/, "none");
    const isOfApp = get?.security?.length === 0;
    const options = post ? { method: "POST", ...body } : {};
    const answer = isOfApp
      ? await send(target.appUrl, url)
      : await request(`${url}?limit=1`, { key: "individual", ...options });
    const described = Object.keys((get ?? post)?.responses ?? {});
    // The gateway's responses if it cannot reach the API.
    const gatewayErrors = isOfApp ? [] : ["503", "504"];
    expect(described, name).toEqual(expect.arrayContaining([String(answer.status), ...gatewayErrors]));
  }
});

it("describes the key and the version that a request for a suppressed report may name", () => {
  const { post } = document.paths["/rpc/request_file_access"];
  const profile = { name: "Content-Profile", schema: { const: "api_v1_1_0" } };
  expect(post.parameters).toContainEqual(expect.objectContaining(profile));
  expect(document.security).toEqual([{ key: [] }]);
  expect(document.components.securitySchemes.key).toMatchObject({ in: "header", name: "x-api-key" });
});
