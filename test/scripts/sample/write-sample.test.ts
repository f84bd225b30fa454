import { access, cp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { definitionsDirectory } from "../../../scripts/refresh/read-definition.ts";
import { writeSample } from "../../../scripts/sample/index.ts";
import { tables } from "../../support/columns.ts";
import { hashFiles, withDirectory } from "./read-sample.ts";

const { views }: { views: Record<string, { columns: { name: string }[] }> } = JSON.parse(
  await readFile(new URL("../../../db/contracts/api_v1_1_0.json", import.meta.url), "utf8"),
);

const hash = (submissions: number, seed: number) =>
  withDirectory(async (directory) => {
    await writeSample({ directory, submissions, seed });
    return hashFiles(directory);
  });

describe("writing a sample", () => {
  it("writes the bytes that this seed has always given", async () => {
    expect(await hash(60, 1)).toBe("b3e4c9b771f55f1316caf94ce64d6ee688a0970cee61f1b489935cd863d8df17");
  });

  it("writes the same bytes twice, and others for another seed", async () => {
    const [first, second, other] = [await hash(40, 7), await hash(40, 7), await hash(40, 8)];
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  it("makes a smaller sample the beginning of a larger one", () =>
    withDirectory(async (directory) => {
      const [small, large] = [path.join(directory, "small"), path.join(directory, "large")];
      await writeSample({ directory: small, submissions: 50 });
      await writeSample({ directory: large, submissions: 55 });
      for (const table of tables) {
        const beginning = await readFile(path.join(small, `${table}.csv`), "utf8");
        const whole = await readFile(path.join(large, `${table}.csv`), "utf8");
        expect(whole.startsWith(beginning), table).toBe(true);
      }
    }));

  it("gives each file the columns of the contract, in their order", () =>
    withDirectory(async (directory) => {
      await writeSample({ directory, submissions: 1 });
      for (const table of tables) {
        const [header] = (await readFile(path.join(directory, `${table}.csv`), "utf8")).split("\n");
        expect(header, table).toBe(views[table]?.columns.map(({ name }) => name).join(","));
      }
    }));

  it("has what the definitions ask for beyond what it knows: columns by their type, tables, and nothing that is gone", () =>
    withDirectory(async (directory) => {
      const definitions = path.join(directory, "data_set");
      await cp(definitionsDirectory, definitions, { recursive: true });
      const file = path.join(definitions, "staging.sql");
      const added = "a varchar(3), b integer, c numeric(12, 2), d boolean, e date, f timestamptz, g jsonb";
      const staging = (await readFile(file, "utf8"))
        .replace("  auditee_name text,\n", `  ${added}, -- new\n`)
        .replace("  is_major text,", "  is_major boolean,")
        .replace(
          "create unlogged table staging.general",
          `create unlogged table staging.visits (report_id text, auditee_uei text, visited date);\n$&`,
        );
      await writeFile(file, staging);
      const [first, second] = [path.join(directory, "first"), path.join(directory, "second")];
      await writeSample({ directory: first, submissions: 30, definitions });
      await writeSample({ directory: second, submissions: 30, definitions });
      const read = async (table: string, from = first): Promise<Record<string, string>[]> =>
        parse(await readFile(path.join(from, `${table}.csv`)), { columns: true });
      const general = await read("general");
      expect(general[0]).not.toHaveProperty("auditee_name");
      for (const row of general) {
        expect(row.a).toMatch(/^.{1,3}$/);
        expect(row.b).toMatch(/^\d+$/);
        expect(row.c).toMatch(/^\d+(\.\d{1,2})?$/);
        expect(row.d).toMatch(/^[tf]$/);
        expect([row.e, row.f, row.g]).toEqual([row.fac_accepted_date, row.fac_accepted_date, ""]);
      }
      expect(new Set(general.map(({ b }) => b)).size).toBeGreaterThan(10);
      const awards = await read("federal_awards");
      expect(new Set(awards.map(({ is_major }) => is_major))).toEqual(new Set(["t", "f"]));
      const visits = await read("visits");
      expect(visits.length).toBeGreaterThan(10);
      const accepted = new Map(general.map((row) => [row.report_id, row.fac_accepted_date]));
      for (const { report_id, visited } of visits) expect(visited).toBe(accepted.get(report_id));
      expect(await read("visits", second)).toEqual(visits);
    }));

  it("names the line of the definitions that it cannot read", () =>
    withDirectory(async (directory) => {
      const column = "  auditee_name text default 'x',";
      await writeFile(
        path.join(directory, "staging.sql"),
        `create table staging.general (\n${column}\n  x text\n);`,
      );
      await expect(writeSample({ directory, definitions: directory })).rejects.toThrow(
        "staging.sql: general: a column is its name and its type, and nothing else: auditee_name text default 'x'",
      );
    }));

  it("writes null as nothing, an empty string as quotes and booleans as t and f", () =>
    withDirectory(async (directory) => {
      await writeSample({ directory, submissions: 110 });
      const awards = await readFile(path.join(directory, "federal_awards.csv"), "utf8");
      expect(awards).toMatch(/^\S+,AWARD-0+\d+,\d\d,\w+,,/m);
      expect(awards).toMatch(/,N,$/m);
      expect(awards).toContain(',"",');
      const general = await readFile(path.join(directory, "general.csv"), "utf8");
      expect(general).toMatch(/,UG,t,/);
      expect(general).toMatch(/,UG,f,/);
    }));

  it("leaves nothing behind when it is aborted, and keeps what was there", () =>
    withDirectory(async (directory) => {
      await writeFile(path.join(directory, "general.csv"), "kept");
      const controller = new AbortController();
      const onProgress = (done: number) => done === 5 && controller.abort();
      await expect(writeSample({ directory, signal: controller.signal, onProgress })).rejects.toThrow(
        /abort/i,
      );
      expect(await readdir(directory)).toEqual(["general.csv"]);
      expect(await readFile(path.join(directory, "general.csv"), "utf8")).toBe("kept");
    }));

  it("makes the directory and those above it", () =>
    withDirectory(async (directory) => {
      const deep = path.join(directory, "a", "b");
      const { rows } = await writeSample({ directory: deep, submissions: 2 });
      await access(path.join(deep, "resubmission.csv"));
      expect(rows).toMatchObject({ general: 3, resubmission: 2 });
    }));
});
