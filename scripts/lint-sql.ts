import path from "node:path";
import { Command } from "commander";
import { describeError } from "../service/describe-error.ts";
import { describeFinding, lintSql } from "./deploy/lint-sql.ts";

const { directory } = new Command("lint-sql")
  .description(
    "Checks the syntax of db/**/*.sql, PL/pgSQL bodies included, and what a migration would block. No database needed.",
  )
  .option("--directory <path>", "another directory than db", "db")
  .allowExcessArguments(false)
  .addHelpText("after", "\nExit status: 0 no error (warnings are printed), 1 errors.")
  .parse()
  .opts<{ directory: string }>();

try {
  const findings = await lintSql(path.resolve(directory));
  for (const finding of findings) process.stdout.write(`${describeFinding(finding)}\n`);
  const errors = findings.filter(({ isError }) => isError).length;
  process.stdout.write(`SQL: ${errors} errors, ${findings.length - errors} warnings.\n`);
  process.exitCode = errors === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`lint-sql: ${describeError(error)}\n`);
  process.exitCode = 1;
}
