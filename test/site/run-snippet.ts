import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Language, languages } from "../../site/request-snippets.ts";
import { clients, execute } from "../examples/clients.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const programs: Record<Language, [extension: string, ...command: string[]]> = {
  curl: ["sh", "/bin/sh"],
  python: ["py", "python3"],
  r: ["R", "Rscript"],
  typescript: ["ts", process.execPath, "--import", tsx],
};

/** The languages that this machine can run. */
export const runnable = (Object.keys(languages) as Language[]).filter((name) =>
  clients.some(({ language, missing }) => language.toLowerCase() === name && missing === undefined),
);

/** Runs a program as a person who has copied it would. Resolves to what it prints. */
export async function runSnippet(language: Language, text: string, env: Record<string, string>) {
  const [extension, ...command] = programs[language];
  const file = path.join(tmpdir(), `snippet-${process.pid}-${Date.now()}.${extension}`);
  await writeFile(file, text);
  const { code, stdout, stderr } = await execute([...command, file], env).finally(() => rm(file));
  if (code !== 0) throw new Error(stderr);
  return stdout;
}
