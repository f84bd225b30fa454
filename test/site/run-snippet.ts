import { execFile, spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Language, languages } from "../../site/request-snippets.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

interface Program {
  extension: string;
  command: string[];
  /** Fails where the language, or what its snippets need, is missing. */
  probe: string[];
}
const programs: Record<Language, Program> = {
  curl: { extension: "sh", command: ["/bin/sh"], probe: ["-c", "command -v curl"] },
  python: { extension: "py", command: ["python3"], probe: ["-c", "import urllib.request"] },
  r: { extension: "R", command: ["Rscript"], probe: ["-e", "library(httr2); library(jsonlite)"] },
  typescript: { extension: "mts", command: [process.execPath, "--import", tsx], probe: ["--version"] },
};

/** The languages that this machine can run. */
export const runnable = (Object.keys(languages) as Language[]).filter(
  (language) =>
    spawnSync(programs[language].command[0] ?? "", programs[language].probe, { stdio: "ignore" }).status ===
    0,
);

/** Runs a program as a person who has copied it would. Resolves to what it prints. */
export async function runSnippet(language: Language, text: string, env: Record<string, string>) {
  const { extension, command } = programs[language];
  const [program = "", ...args] = command;
  const file = path.join(tmpdir(), `snippet-${process.pid}-${Date.now()}.${extension}`);
  await writeFile(file, text);
  try {
    const { PATH, HOME } = process.env;
    const { stdout } = await promisify(execFile)(program, [...args, file], { env: { PATH, HOME, ...env } });
    return stdout;
  } finally {
    await rm(file);
  }
}
