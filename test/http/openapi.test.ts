import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { request, send, target } from "../support/target.ts";

// The description of the whole service, as a generated client and its author use it.

const project = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
// biome-ignore lint/suspicious/noExplicitAny: the tests assert its shape.
let document: any;
let directory: string;

beforeAll(async () => {
  ({ json: document } = await send(target.appUrl, "/openapi.json"));
  directory = await mkdtemp(path.join(tmpdir(), "openapi-"));
});
afterAll(() => rm(directory, { recursive: true }));

describe("/openapi.json", () => {
  it("needs no key, comes compressed, and is kept until something changes", async () => {
    const gzip = { "accept-encoding": "gzip" };
    const { status, headers } = await send(target.appUrl, "/openapi.json", { headers: gzip });
    const { "content-encoding": encoding, "access-control-allow-origin": origin } = headers;
    expect([status, encoding, origin]).toEqual([200, "gzip", "*"]);
    const again = { "if-none-match": String(headers.etag) };
    expect((await send(target.appUrl, "/openapi.json", { headers: again })).status).toBe(304);
  });

  it("is valid OpenAPI 3.1", async () => {
    expect(document.openapi).toBe("3.1.0");
    // Downloads are answered by redirects.
    const rules = { "operation-2xx-response": "off" } as const;
    const config = await createConfig({ extends: ["recommended"], rules });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  it("has the tables, columns and texts of PostgREST, whose own description names the gateway", async () => {
    const { json: own } = await request("/", { key: "individual" });
    expect(`${own.schemes[0]}://${own.host}`).toBe(target.baseUrl.replace(/\/$/, ""));
    expect(document.servers[0].url).toBe(target.baseUrl.replace(/\/$/, ""));
    const tables = Object.keys(own.definitions).sort();
    const described = Object.keys(document.paths).filter((name) => /^\/(?!readyz$)[a-z_]+$/.test(name));
    expect(described.sort()).toEqual(tables.map((table) => `/${table}`));
    for (const table of tables) {
      const { properties } = document.components.schemas[table];
      const columns = Object.entries<{ description: string }>(own.definitions[table].properties);
      expect(Object.keys(properties)).toEqual(columns.map(([name]) => name));
      // PostgREST adds a note to key columns.
      for (const [name, column] of columns)
        expect(column.description).toContain(properties[name].description);
    }
  });

  it("describes paths that answer as it says", async () => {
    type Operations = Record<string, { responses: object; security?: [] }>;
    const body = { body: '{"report_id":"x"}', headers: { "content-type": "application/json" } };
    for (const [name, { get, post }] of Object.entries<Operations>(document.paths)) {
      const url = name.replace(/\{\w+\}/, "none");
      const isOfApp = get?.security?.length === 0;
      const answer = await (isOfApp
        ? send(target.appUrl, url)
        : get
          ? request(`${url}?limit=1`, { key: "individual" })
          : request(url, { key: "individual", method: "POST", ...body }));
      const described = Object.keys((get ?? post)?.responses ?? {});
      // What a gateway answers whose API is away.
      const gatewayErrors = isOfApp ? [] : ["502", "503", "504"];
      expect(described, name).toEqual(expect.arrayContaining([String(answer.status), ...gatewayErrors]));
    }
  });

  it("names what runs the flow to a suppressed report", () => {
    const { post } = document.paths["/rpc/request_file_access"];
    const profile = { name: "Content-Profile", required: true, schema: { const: "admin_api_v1_1_0" } };
    expect(post.parameters).toContainEqual(expect.objectContaining(profile));
    expect(document.security).toEqual([{ key: [] }]);
    expect(document.components.securitySchemes.key).toMatchObject({ in: "header", name: "x-api-key" });
  });
});

describe("a client that openapi-typescript generates from it", () => {
  const write = (name: string, text: string) => writeFile(path.join(directory, name), text);
  // The generator needs the API that TypeScript had before version 7, which is what the project has. ts-morph brings it.
  const older = import.meta.resolve("@ts-morph/common");
  const bundled = `data:text/javascript,import common from "${older}"; export default common.ts;`;
  const resolve = `export const resolve = (name, context, next) =>
    name === "typescript" ? { url: ${JSON.stringify(bundled)}, shortCircuit: true } : next(name, context);`;
  const hook = `import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(${JSON.stringify(resolve)}));`;
  const generate = async () => {
    await write("openapi.json", JSON.stringify(document));
    const generator = path.join(project, "node_modules/openapi-typescript/bin/cli.js");
    await run(process.execPath, [
      ...["--import", `data:text/javascript,${encodeURIComponent(hook)}`, generator],
      ...[path.join(directory, "openapi.json"), "--output", path.join(directory, "schema.ts")],
    ]);
  };
  const program = `import type { paths } from "./schema.ts";
type General = paths["/general"]["get"];
type Query = NonNullable<General["parameters"]["query"]>;
export const good: Query = { select: "report_id,total_amount_expended", audit_year: "eq.2023", limit: 5 };
// @ts-expect-error: There is no such column.
export const wrongColumn: Query = { audit_yeer: "eq.2023" };
// @ts-expect-error: The limit is a number.
export const wrongType: Query = { limit: "five" };
export function read(row: General["responses"]["200"]["content"]["application/json"][number]) {
  const amount: number | null | undefined = row.total_amount_expended;
  const isPublic: boolean | null | undefined = row.is_public;
  return { amount, isPublic };
}
`;

  it("checks the types of a query and of its rows", async () => {
    await generate();
    await write("program.ts", program);
    const compiler = path.join(project, "node_modules/typescript/bin/tsc");
    const options = ["--noEmit", "--strict", "--allowImportingTsExtensions", "--target", "es2022"];
    const modules = ["--module", "esnext", "--moduleResolution", "bundler", "program.ts"];
    // The settings of this project do not apply in another directory.
    const compile = run(process.execPath, [compiler, ...options, ...modules], { cwd: directory });
    expect(await compile.catch((error) => error)).toMatchObject({ stdout: "" });
  });
});
