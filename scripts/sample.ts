import { readdir } from "node:fs/promises";
import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { describeError } from "../shared/describe-error.ts";
import { writeReportPdfs } from "./sample/write-report-pdfs.ts";
import { writeSample } from "./sample/write-sample.ts";

type Options = { out: string; submissions: number; seed: number; pdf?: true; from?: string; force?: true };

const command = new Command("npm run sample --")
  .description("Writes generated Single Audit submissions as CSV files. The same seed gives the same files.")
  .requiredOption("--out <directory>", "where to write (required)")
  .option("--submissions <number>", "how many current submissions to write", parseWhole(1), 2000)
  .option("--seed <number>", "a different seed gives different submissions", parseWhole(0), 1)
  .option("--pdf", "also write a PDF of each report, to reports/ in the directory")
  .addOption(
    new Option(
      "--from <directory>",
      "only write PDFs, of the reports in these CSV files, generated or real",
    ).conflicts(["pdf", "submissions", "seed"]),
  )
  .option("--force", "write into a directory that is not empty; files with the same names are replaced")
  .addHelpText(
    "after",
    `
Environment:
  SCRATCH_URL   a PostgreSQL server to generate the rows on, with a superuser's login; if not set, one is started

Ctrl-C leaves no partial CSV file. Exit status: 0 done, 1 failed, 130 interrupted.`,
  )
  .parse();

const controller = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());

try {
  await run(command.opts<Options>(), controller.signal);
} catch (error) {
  const text = describeError(error);
  process.stderr.write(
    controller.signal.aborted ? "Interrupted.\n" : `error: ${text.replaceAll("\n", " ")}\n`,
  );
  process.exitCode = controller.signal.aborted ? 130 : 1;
}

async function run(
  { out, submissions, seed, pdf, from, force }: Options,
  signal: AbortSignal,
): Promise<void> {
  if (!force && !(await isEmpty(out))) {
    throw new Error(`${out} is not empty. Add --force to write into it, or choose another directory.`);
  }
  if (from !== undefined) return writePdfs(from, out);
  const rows = await writeSample({
    serverUrl: process.env.SCRATCH_URL || undefined,
    directory: out,
    submissions,
    seed,
    signal,
    report: (line) => process.stderr.write(`${line}\n`),
  });
  for (const [table, count] of Object.entries(rows)) process.stdout.write(`${table}: ${count} rows\n`);
  if (pdf) await writePdfs(out, path.join(out, "reports"));
}

async function writePdfs(directory: string, output: string): Promise<void> {
  process.stderr.write("Writing PDFs ...\n");
  process.stdout.write(`${await writeReportPdfs(directory, output)} PDFs in ${output}\n`);
}

async function isEmpty(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw new Error(`cannot write to ${directory}: ${(error as Error).message}`, { cause: error });
  }
}

function parseWhole(min: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < min) {
      throw new InvalidArgumentError(`Enter a whole number of at least ${min}.`);
    }
    return number;
  };
}
