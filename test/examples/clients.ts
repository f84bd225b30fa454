import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { programArguments } from "../support/compile-programs.ts";

const project = path.resolve(import.meta.dirname, "../..");

/** A row with each value as text, so that formats can be compared; null is the empty text. */
export type TextRow = Record<string, string>;

export interface Client {
  language: string;
  program: string[];
  /** How a file that `walk` wrote, and what `query` prints, is to be read. */
  format: "csv" | "jsonl";
  /** The rows of a file that `sync` wrote. */
  readSynced: (file: string) => Promise<TextRow[]>;
  /** What the language needs that is not on this machine. */
  missing: string | undefined;
}

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

const toText = (row: Record<string, unknown>): TextRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? "")]));

/** JSON lines. */
export const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

export const parseRows = (text: string, format: Client["format"]): TextRow[] =>
  format === "csv" ? parse(text, { columns: true }) : parseLines(text).map(toText);

const readFormat = (format: Client["format"]) => async (file: string) =>
  parseRows(await readFile(file, "utf8"), format);

async function readSqlite(file: string): Promise<TextRow[]> {
  const program = `
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.row_factory = sqlite3.Row
for row in database.execute("select * from general"): print(json.dumps(dict(row)))`;
  return parseLines((await execute([python, "-c", program, file])).stdout).map(toText);
}

const works = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

/** `python3` may be a script that chooses a version, which takes longer than the program itself. */
const found = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
const python = (found.status === 0 && found.stdout.trim()) || "python3";

export const clients: Client[] = [
  {
    language: "Python",
    program: [python, "examples/client.py"],
    format: "jsonl",
    readSynced: readSqlite,
    missing: works(python, "-c", "import sqlite3, sys; sys.exit(sys.version_info < (3, 9))")
      ? undefined
      : "python3 (3.9 or newer)",
  },
  {
    language: "R",
    program: ["Rscript", "examples/client.R"],
    format: "csv",
    readSynced: readFormat("csv"),
    missing: works("Rscript", "-e", "library(httr2); library(jsonlite)")
      ? undefined
      : "Rscript with httr2 and jsonlite",
  },
  {
    language: "TypeScript",
    program: [process.execPath, ...programArguments("examples/client.ts")],
    format: "jsonl",
    readSynced: readFormat("jsonl"),
    missing: undefined,
  },
  {
    language: "curl",
    program: ["bash", "examples/client.sh"],
    format: "csv",
    readSynced: readFormat("csv"),
    missing: works("curl", "--version") ? undefined : "curl",
  },
];

function execute([command = "", ...args]: string[], env: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve) => {
    const options = {
      cwd: project,
      env: { ...process.env, ...env },
      maxBuffer: 100_000_000,
      timeout: 30_000,
    };
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** Runs a client's command to its end. */
export const runClient = (client: Client, args: string[], env: Record<string, string>): Promise<Run> =>
  execute([...client.program, ...args], env);
