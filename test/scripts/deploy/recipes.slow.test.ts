import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { $ } from "zx";
import { writeRow } from "../../../scripts/refresh/row-format.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { queryOn } from "../../support/query-on.ts";
import { readBlocks } from "../../support/read-blocks.ts";
import { type RunningStack, runStack } from "../../support/run-stack.ts";
import { send } from "../../support/target.ts";

// Follows docs/recipes.md as printed, in order, on a copy of the repository and the stack of the quick start.

const project = path.resolve(import.meta.dirname, "../../..");

const recipes = await readFile(path.join(project, "docs/recipes.md"), "utf8");
let copy: string;
let stack: RunningStack;

beforeAll(async () => {
  copy = await makeDirectory();
  const left = ["node_modules", ".git", ".stack"].map((name) => path.join(project, name));
  await cp(project, copy, { recursive: true, filter: (source) => !left.includes(source) });
  await symlink(path.join(project, "node_modules"), path.join(copy, "node_modules"));
  const git = $({ cwd: copy, quiet: true });
  await git`git init -q`;
  await git`git add db scripts/stack`;
  await git`git -c user.name=test -c user.email=test@example.gov commit -qm start`;
  stack = await runStack({ directory: path.join(copy, ".stack") });
});
afterAll(() => stack.dispose());

/** Returns the steps of a recipe: edits, new files, and commands. */
function readSteps(title: string) {
  let file = "";
  return readBlocks(recipes, title).map(({ prose, language, text }) => {
    // A block edits the last file that the text before it names.
    file = prose.match(/db\/[\w/]+\.sql/g)?.at(-1) ?? file;
    return { kind: prose.includes("a new file") ? "file" : language, file, text };
  });
}

async function follow(title: string, from = 0, to?: number): Promise<void> {
  const steps = readSteps(title).slice(from, to);
  expect(steps.length, title).toBeGreaterThan(0);
  for (const { kind, file, text } of steps) {
    if (kind === "diff") await edit(path.join(copy, file), text);
    else if (kind === "file") await writeFile(path.join(copy, file), text, { flag: "wx" });
    else await runCommands(text);
  }
}

/** Applies a diff, whose context and removed lines must occur in the file once. */
async function edit(file: string, diff: string): Promise<void> {
  const lines = diff.trimEnd().split("\n");
  const side = (sign: string) => {
    const kept = lines.filter((line) => line.startsWith(sign) || line.startsWith(" "));
    return kept.map((line) => `${line.slice(1)}\n`).join("");
  };
  const text = await readFile(file, "utf8");
  expect(text.split(side("-")), `${file} must contain this once:\n${side("-")}`).toHaveLength(2);
  await writeFile(
    file,
    text.replace(side("-"), () => side("+")),
  );
}

const query = <Row extends Record<string, unknown>>(sql: string, role = "postgres") => {
  const url = new URL(stack.facts.database_url);
  url.searchParams.set("options", `-c role=${role}`);
  return queryOn<Row>(url.href, sql);
};

async function runCommands(
  text: string,
  { input = "", variables = {} }: { input?: string; variables?: Record<string, string> } = {},
): Promise<string> {
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: await makeDirectory(), ...variables };
  const run = $({ cwd: copy, env, nothrow: true, quiet: true, input });
  const { exitCode, stdout, stderr } = await run`bash -ec ${text}`;
  expect(exitCode, `${text}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

const ask = async (target: string, profile = "api_v1_1_0") =>
  await send(stack.facts.base_url, target, {
    headers: { "accept-profile": profile, "x-api-key": stack.facts.keys.individual },
  });

describe("docs/recipes.md", { timeout: 400_000 }, () => {
  const county = "/general?select=auditee_county&auditee_county=not.is.null";

  it("serves a new column at once, with values from the next refresh on", async () => {
    await follow("Add a column", 0, 3);
    const { status, json } = await ask(county);
    expect([status, json]).toEqual([200, []]);
    await follow("Add a column", 3);
    expect((await ask(`${county}&limit=1`)).json).toEqual([{ auditee_county: expect.stringMatching(/\w/) }]);
  });

  it("keeps serving a column that the source files no longer have", async () => {
    const file = path.join(copy, ".stack/next/general.csv");
    const rows: Record<string, string>[] = parse(await readFile(file), { columns: true });
    for (const row of rows) delete row.auditee_county;
    await writeFile(
      file,
      [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map(writeRow).join(""),
    );
    await follow("Drop a column", 0, 2);
    const { status, json } = await ask(county);
    expect([status, json]).toEqual([200, []]);
  });

  it("drops a column", async () => {
    await follow("Drop a column", 2);
    expect((await ask(county)).status).toBe(400);
    const sql = "select from pg_attribute where attname = 'auditee_county' and not attisdropped";
    expect(await query(sql)).toEqual([]);
  });

  it("adds an index to the live data set and to the next one", async () => {
    const read = () =>
      query(
        `select obj_description(format('%I.%I', schemaname, indexname)::regclass) as comment
         from pg_indexes where schemaname = 'disclosed' and indexname = 'general_auditee_city'`,
      );
    await follow("Add an index");
    expect(await read()).toEqual([{ comment: "general?auditee_city=eq.…" }]);
    await runCommands("npm run refresh -- --from .stack/next --force");
    expect(await read()).toEqual([{ comment: "general?auditee_city=eq.…" }]);
  });

  it("adds a source table, which is served without suppressed rows", async () => {
    await follow("Add a source table");
    const { status, json } = await ask("/site_visits?select=report_id,visited_date");
    expect(status).toBe(200);
    expect(json.length).toBeGreaterThan(50);
    const shown = new Set(json.map(({ report_id }: { report_id: string }) => report_id));
    const hidden = await query<{ report_id: string }>("select report_id from suppressed.site_visits");
    expect(hidden.length).toBeGreaterThan(0);
    expect(hidden.filter(({ report_id }) => shown.has(report_id))).toEqual([]);
  });

  it("adds functions, which are served and described", async () => {
    await follow("Add a function");
    await expect.poll(async () => (await ask("/rpc/newest_report_date")).json).toMatch(/^\d{4}-\d\d-\d\d$/);
    const [report] = (await ask("/general?select=auditee_uei,report_id&is_public=is.true&limit=1")).json;
    const reports = await ask(`/rpc/reports_of?uei=${report.auditee_uei}&select=report_id`);
    expect(reports.json).toContainEqual({ report_id: report.report_id });
    const { paths } = (await ask("/")).json;
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["/rpc/newest_report_date", "/rpc/reports_of"]),
    );
    const [row] = await query<{ functions: string }>(
      "select jsonb_path_query_array(publication.describe_api(), '$[*].functions[*].name')::text as functions",
    );
    expect(row?.functions).toContain("newest_report_date");
  });

  it("adds a field to a key", async () => {
    await follow("Add a field to a key");
    await query(
      "select from access.issue_key('individual', 'grace@example.gov', key_purpose => 'research')",
      "key_operator",
    );
    expect(await query("select purpose from access.api_keys where purpose is not null")).toEqual([
      { purpose: "research" },
    ]);
  });

  it("renames a column in a new version", async () => {
    await follow("Rename a column");
    expect((await ask("/general?select=auditee_street&limit=1", "api_v1_2_0")).status).toBe(200);
    expect((await ask("/general?select=auditee_address_line_1&limit=1")).status).toBe(200);
  });

  it("retires a version", async () => {
    await runCommands("git tag --force deployed");
    await follow("Retire a version", 0, 1);
    const { status, headers } = await ask("/general?limit=1");
    expect([status, headers.sunset]).toEqual([200, "Tue, 30 Jun 2099 00:00:00 GMT"]);
    await query("update deployment.retired_versions set sunset_at = deprecated_at + interval '1 day'");
    await follow("Retire a version", 1);
    expect((await ask("/general?limit=1")).status).toBe(406);
    expect((await ask("/general?limit=1", "api_v1_2_0")).status).toBe(200);
  });

  it("the pipeline of docs/pipelines.md deploys after a retirement, and keeps what it deployed", async () => {
    const pipelines = await readFile(path.join(project, "docs/pipelines.md"), "utf8");
    const [, script = ""] = /```sh\n(#!\/usr\/bin\/env bash\n# deploy\.sh[\s\S]*?)```/.exec(pipelines) ?? [];
    await runCommands("printf -- '-- More.\\n' >> db/api/api_v1_2_0/schema.sql");
    await runCommands("git add db; git -c user.name=test -c user.email=test@example.gov commit -qm more");
    const { base_url, app_url, database_url, keys } = stack.facts;
    // The packages are those of this repository.
    const output = await runCommands(script.replaceAll("npm ci", "true"), {
      input: "y\n",
      variables: {
        ENVIRONMENT: "production",
        DATABASE_URL: database_url,
        BASE_URL: base_url,
        APP_URL: app_url,
        SMOKE_KEY: keys.individual,
        SMOKE_TRIBAL_KEY: keys.tribal,
      },
    });
    expect(output).toContain("The API schemas would be rebuilt.");
    expect(output).toMatch(/^(\d+) of \1 checks passed\.$/m);
    const [promise] = await query<{ versions: string[] }>(
      "select array(select jsonb_path_query(contracts, '$[*].schema') ->> 0) as versions from publication.promises",
    );
    expect(promise?.versions).toEqual(["api_v1_2_0", "admin_api_v1_2_0"]);
  });

  it("deploys despite drift", async () => {
    await query("create index by_hand on access.api_keys (label)");
    await follow("Undo drift");
    await query("drop index access.by_hand");
  });

  it("restores a dropped view", async () => {
    await runCommands("npm run db:deploy -- --accept-drift");
    const embed = () => ask("/general?select=report_id,resubmission(version)&limit=1", "api_v1_2_0");
    expect((await embed()).status).toBe(200);
    await query("drop view api_v1_2_0.resubmission cascade; notify pgrst, 'reload schema'");
    await expect.poll(async () => (await embed()).status).toBeGreaterThan(399);
    await follow("Restore a view that was dropped");
    await expect.poll(async () => (await embed()).status).toBe(200);
  });
});
