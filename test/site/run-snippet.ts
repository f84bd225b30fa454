import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Language, languages } from "../../site/request-snippets.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const programs: Record<Language, string> = {
  curl: "/bin/sh",
  python: "python3",
  r: "Rscript",
  typescript: process.execPath,
};

/** What runs without a word where the language, and what its snippets need, is installed. */
const probes: Record<Language, string[]> = {
  curl: ["-c", "command -v curl"],
  python: ["-c", "import urllib.request"],
  r: ["-e", "library(httr2)"],
  typescript: ["--version"],
};

function isInstalled(language: Language): boolean {
  try {
    execFileSync(programs[language], probes[language], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The languages that this machine can run. */
export const runnable = (Object.keys(languages) as Language[]).filter(isInstalled);

/** Runs programs as a person who has copied them would, and gives what each printed. */
export async function runSnippets(
  language: Language,
  texts: string[],
  env: Record<string, string> = {},
): Promise<string[]> {
  const directory = await mkdtemp(path.join(tmpdir(), "snippets-"));
  const run = async (args: string[]) => {
    const options = { cwd: directory, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } };
    const { stdout } = await promisify(execFile)(programs[language], args, {
      ...options,
      maxBuffer: 32 * 1024 * 1024,
    });
    return stdout;
  };
  const extensions = { curl: "sh", python: "py", r: "R", typescript: "mts" };
  const files = texts.map((_, index) => path.join(directory, `${index}.${extensions[language]}`));
  try {
    for (const [index, file] of files.entries()) await writeFile(file, texts[index] ?? "");
    if (language === "typescript") {
      // One Node.js for all of them: to start it takes longer than what they do.
      const all = files
        .map((file) => `await import(${JSON.stringify(file)}); console.log("\\f");`)
        .join("\n");
      await writeFile(path.join(directory, "all.mts"), all);
      return (await run(["--import", tsx, path.join(directory, "all.mts")])).split("\f");
    }
    const printed: string[] = [];
    for (let from = 0; from < files.length; from += 4) {
      printed.push(...(await Promise.all(files.slice(from, from + 4).map((file) => run([file])))));
    }
    return printed;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
