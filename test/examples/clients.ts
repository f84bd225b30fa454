import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { execute } from "../support/execute.ts";

/** A row with each value as text, so that rows of different formats can be compared. Null is the empty string. */
export type TextRow = Record<string, string>;

export interface Client {
  language: string;
  program: string[];
  /** The format of the files that `walk` writes and of what `query` prints. */
  format: "csv" | "jsonl";
  /** What the client needs but this machine lacks; undefined if it can run. */
  missing: string | undefined;
}

/** Parses JSON Lines. */
export const parseLines = (text: string): Record<string, unknown>[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

export const parseRows = (text: string, format: Client["format"]): TextRow[] =>
  format === "csv"
    ? parse(text, { columns: true })
    : parseLines(text).map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? "")])),
      );

// `python3` may be a script that chooses a version, which is slower than running the interpreter directly.
const found = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
const python = (found.status === 0 && found.stdout.trim()) || "python3";

/** Returns `what` if the command that checks for it fails. */
const missing = (what: string, command: string, ...args: string[]) =>
  spawnSync(command, args).status === 0 ? undefined : what;
const checkPython = "import sqlite3, sys; sys.exit(sys.version_info < (3, 9))";

export const clients: Client[] = [
  {
    language: "Python",
    program: [python, "docs/examples/client.py"],
    format: "jsonl",
    missing: missing("python3 (3.9 or newer)", python, "-c", checkPython),
  },
  {
    language: "R",
    program: ["Rscript", "docs/examples/client.R"],
    format: "csv",
    missing: missing("Rscript with httr2 and jsonlite", "Rscript", "-e", "library(httr2); library(jsonlite)"),
  },
  {
    language: "TypeScript",
    program: [process.execPath, "--import", "tsx", "docs/examples/client.ts"],
    format: "jsonl",
    missing: undefined,
  },
  {
    language: "curl",
    program: ["bash", "docs/examples/client.sh"],
    format: "csv",
    missing: missing("curl", "curl", "--version"),
  },
];

/** Reads the rows of a file that `sync` wrote. The Python client writes a SQLite database. */
export async function readSynced({ language, format }: Client, file: string): Promise<TextRow[]> {
  if (language !== "Python") return parseRows(await readFile(file, "utf8"), format);
  const program = `
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.row_factory = sqlite3.Row
for row in database.execute("select * from general"): print(json.dumps(dict(row)))`;
  return parseRows((await execute([python, "-c", program, file], process.env)).stdout, "jsonl");
}
