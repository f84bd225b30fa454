import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeDirectory } from "../support/make-directory.ts";
import { readBlocks } from "../support/read-blocks.ts";
import { request, target } from "../support/target.ts";

const run = promisify(execFile);
const project = path.resolve(import.meta.dirname, "../..");
const programs = path.join(project, "test/client-generators/node_modules/.bin");

/** Lines that compile only if the types of rows say which columns can be null. */
const typeChecks = `
({ report_id: "x", is_public: true, auditee_name: null }) satisfies Row;
// @ts-expect-error It is never null.
({ report_id: null }) satisfies Row;
// @ts-expect-error It is never null.
({ is_public: null }) satisfies Row;
// @ts-expect-error It is a number.
({ total_amount_expended: "1" }) satisfies Row;
`;
const options = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: ["node"] },
  ...{
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
  },
};

/** Makes a directory, in which a generator writes a client. */
async function generate(program: string, args: string[]): Promise<string> {
  const cwd = await makeDirectory();
  await symlink(path.join(project, "node_modules"), path.join(cwd, "node_modules"));
  await writeFile(path.join(cwd, "package.json"), '{"type":"module"}');
  await writeFile(path.join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
  await run(path.join(programs, program), args, { cwd });
  return cwd;
}

/** Compiles client.ts, and returns what the compiler reports. */
async function compile(cwd: string, text: string): Promise<string> {
  await writeFile(path.join(cwd, "client.ts"), text);
  const { stdout } = await run(path.join(programs, "tsc"), { cwd }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

async function runClient(cwd: string, text: string): Promise<string[]> {
  await writeFile(path.join(cwd, "client.ts"), text);
  const { stdout } = await run(process.execPath, ["--import", "tsx", "client.ts"], { cwd });
  return stdout.trim().split("\n");
}

async function readLines(): Promise<string[]> {
  const rows = "/general?audit_year=eq.2023&order=report_id&limit=5&select=report_id,auditee_name";
  const { json } = await request(rows, { key: "individual" });
  return json.map((row: Record<string, string | null>) =>
    [row.report_id, row.auditee_name ?? "(suppressed)"].join(" "),
  );
}

it("the TypeScript client of docs/api.md compiles with generated types, and prints rows", async () => {
  const blocks = readBlocks(
    await readFile(path.join(project, "docs/api.md"), "utf8"),
    "Generate a TypeScript client",
  );
  const [commands, client = ""] = blocks.map(({ text }) => text);
  expect(commands).toContain("npx openapi-typescript http://127.0.0.1:8001/openapi.json --output schema.ts");
  const cwd = await generate("openapi-typescript", [
    `${target.appUrl}/openapi.json`,
    "--output",
    "schema.ts",
  ]);
  const text = client
    .replace("http://127.0.0.1:8000", target.baseUrl.replace(/\/$/, ""))
    .replace("DEMO_KEY", target.keys.individual);
  expect(await compile(cwd, `${text}\ntype Row = (typeof data)[number];${typeChecks}`)).toBe("");
  expect(await runClient(cwd, text)).toEqual(await readLines());
});

it("a client that hey-api generates compiles, and prints rows", async () => {
  const cwd = await generate("openapi-ts", ["--input", `${target.appUrl}/openapi.json`, "--output", "api"]);
  const text = `
import { type General as Row, readGeneral } from "./api/index.ts";
const { data = [] } = await readGeneral({
  baseUrl: "${target.baseUrl.replace(/\/$/, "")}",
  auth: "${target.keys.individual}",
  query: { audit_year: "eq.2023", order: "report_id", limit: 5, select: "report_id,auditee_name" },
  throwOnError: true,
});
for (const row of data) console.log(row.report_id, row.auditee_name ?? "(suppressed)");
`;
  expect(await compile(cwd, text + typeChecks)).toBe("");
  expect(await runClient(cwd, text)).toEqual(await readLines());
});
