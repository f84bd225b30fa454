import { mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { PostgrestClient } from "@supabase/postgrest-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { $ } from "zx";
import type { Database } from "../../../db/contracts/types.ts";
import { findReport, target } from "../../support/target.ts";

const client = () =>
  new PostgrestClient<Database, { PostgrestVersion: "12" }, "api_v1_1_0">(target.baseUrl, {
    headers: { "x-api-key": target.keys.individual },
    schema: "api_v1_1_0",
  });

describe("the types of db/contracts", () => {
  it("serve the published client of PostgREST", async () => {
    const reportId = await findReport(true);
    const { data, error } = await client()
      .from("general")
      .select("report_id, total_amount_expended, is_public")
      .eq("report_id", reportId)
      .single();
    expect(error).toBeNull();
    expect(data?.report_id).toBe(reportId);
    // Typed: a number or null, a boolean or null.
    const amount: number | null | undefined = data?.total_amount_expended;
    const isPublic: boolean | null | undefined = data?.is_public;
    expect([typeof amount, isPublic]).toEqual(["number", true]);
  });

  it("know the relationships", async () => {
    const { data } = await client()
      .from("federal_awards")
      .select("award_reference, general(auditee_name)")
      .limit(3);
    expect(data).toHaveLength(3);
    for (const award of data ?? []) {
      const name: string | null | undefined = award.general?.auditee_name;
      expect(name).toBeTruthy();
    }
  });
});

describe("a program that uses them", () => {
  const project = path.resolve(import.meta.dirname, "../../..");
  let directory: string;
  beforeAll(async () => {
    // Inside the project, so that it finds the packages.
    directory = await mkdtemp(path.join(project, "test/.compile-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const imports = [
    'import { PostgrestClient } from "@supabase/postgrest-js";',
    'import type { Database } from "../../db/contracts/types.ts";',
    'const api = new PostgrestClient<Database, { PostgrestVersion: "12" }, "api_v1_1_0">("http://localhost", { schema: "api_v1_1_0" });',
  ];
  const compile = async (programs: Record<string, string[]>) => {
    for (const [name, lines] of Object.entries(programs)) {
      await writeFile(path.join(directory, name), [...imports, ...lines].join("\n"));
    }
    await writeFile(
      path.join(directory, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", include: Object.keys(programs) }),
    );
    const { exitCode, stdout } = await $({
      cwd: project,
      nothrow: true,
      quiet: true,
    })`npx tsc -p ${directory}`;
    return { exitCode, problems: stdout.trim().split(/\n(?! )/) };
  };

  it("compiles with the published columns, and does not with a wrong one", async () => {
    const { exitCode, problems } = await compile({
      "right.ts": [
        'const { data } = await api.from("general").select("report_id, audit_year").limit(1);',
        "export const year: string | null | undefined = data?.[0]?.audit_year;",
        "// @ts-expect-error: there is no such column",
        'api.from("general").select("report_id").eq("audit_yeer", "2023");',
        "// @ts-expect-error: there is no such table",
        'api.from("generals");',
      ],
      "wrong.ts": [
        'const { data } = await api.from("general").select("report_id, audit_yeer").limit(1);',
        "export const year: string | null | undefined = data?.[0]?.audit_yeer;",
      ],
    });
    expect(exitCode).not.toBe(0);
    expect(problems).toEqual([
      expect.stringMatching(/\/wrong\.ts\(.*column 'audit_yeer' does not exist on 'general'/s),
    ]);
  });
});
