import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { z } from "zod";
import { $ } from "zx";

const project = path.resolve(import.meta.dirname, "../..");

const report = z.object({
  diagnostics: z.array(
    z.object({
      severity: z.string(),
      message: z.string(),
      category: z.string(),
      location: z.object({ path: z.string(), start: z.object({ line: z.number(), column: z.number() }) }),
    }),
  ),
});

/** What is wrong at one place of a file. A warning is for a person to weigh. */
export interface SqlFinding {
  file: string;
  line: number;
  column: number;
  rule: string;
  message: string;
  isError: boolean;
}

/**
 * Lints SQL files with the Postgres language server, as `postgres-language-server.jsonc` configures it. With a
 * database that has what the files make, statements are type-checked as well.
 *
 * A line `-- pgls-ignore <rule>: <reason>` above a statement silences one rule for it.
 */
export async function lintSql(directory: string, databaseUrl?: string): Promise<SqlFinding[]> {
  const program = locateProgram();
  const options = [
    ...["--colors=off", "--reporter=json", "--max-diagnostics=none", `--config-path=${project}`],
    ...(databaseUrl === undefined ? ["--disable-db"] : [`--connection-string=${databaseUrl}`]),
  ];
  const { stdout, stderr } = await $({
    cwd: path.dirname(directory),
    nothrow: true,
    quiet: true,
  })`${program} check ${options} ${path.basename(directory)}`;
  const [json = ""] = stdout.split("\n");
  if (!json.startsWith("{")) throw new Error(`The Postgres language server failed:\n${stdout}${stderr}`);
  const findings: SqlFinding[] = [];
  for (const { severity, message, category, location } of report.parse(JSON.parse(json)).diagnostics) {
    const file = path.join(path.dirname(directory), location.path);
    if (category === "typecheck" && (await isInFunctionBody(file, location.start.line))) continue;
    // These run on schemas that exist only inside a load or a transaction, so no lock there meets a reader. Only their
    // syntax is checked.
    if (category !== "syntax" && /(^|\/)(data_set|sample)\//.test(location.path)) continue;
    const finding = {
      file: path.relative(process.cwd(), file),
      line: location.start.line,
      column: location.start.column,
      rule: category,
      message,
      isError: severity === "error" || severity === "fatal",
    };
    // One statement may break a rule several times over.
    if (!findings.some((other) => describeFinding(other) === describeFinding(finding)))
      findings.push(finding);
  }
  return findings;
}

function locateProgram(): string {
  const name = "@postgres-language-server/cli-x86_64-linux-gnu";
  try {
    return createRequire(import.meta.url).resolve(`${name}/postgres-language-server`);
  } catch (cause) {
    throw new Error(`The linter is not here: let npm install the optional package ${name} (Linux x64).`, {
      cause,
    });
  }
}

/**
 * The type check puts values without a type in place of a function's parameters, and so misreads `$1.report_id`
 * and columns that are named like a parameter. PostgreSQL checks bodies itself when the file is applied.
 */
async function isInFunctionBody(file: string, line: number): Promise<boolean> {
  const before = (await readFile(file, "utf8")).split("\n").slice(0, line).join("\n");
  const body = before.lastIndexOf("$$") > -1 && before.split("$$").length % 2 === 0;
  const oneLine = /\$\$.*\$\$\s*;\s*$/.test(before);
  return body || oneLine;
}

/** A finding as one line, in the form that editors and pipelines make links of. */
export function describeFinding({ file, line, column, rule, message, isError }: SqlFinding): string {
  return `${file}:${line}:${column}: ${isError ? "error" : "warning"}: ${message} (${rule})`;
}
