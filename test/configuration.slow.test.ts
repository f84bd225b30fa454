import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { readRepository } from "./support/read-repository.ts";

const project = path.resolve(import.meta.dirname, "..");
const programs = [
  "start",
  "report-service",
  "site",
  "refresh",
  "db-deploy",
  "db-check",
  "db-watch",
  "keys",
  "smoke",
  "sample",
  "gateway-embedded",
];

async function readEnvironment(name: string): Promise<string> {
  const args = ["--import", "tsx", `scripts/${name}.ts`, "--help"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project });
  const [, block] = /^(Environment[\s\S]*?)(?:\n\n\S|\n*$(?![\s\S]))/m.exec(stdout) ?? [];
  return (block ?? "").trimEnd();
}

it("--help or .env.example has each variable that the code or docker-compose.yml reads", async () => {
  const printed = await Promise.all(programs.map(readEnvironment));
  for (const [index, text] of printed.entries()) expect(text, programs[index]).not.toBe("");
  const documented = `${printed.join("\n")}\n${await readFile(path.join(project, ".env.example"), "utf8")}`;
  const sources = await readRepository(["scripts", "shared", "gateway", "report-service", "site"], [".ts"]);
  const read = sources.flatMap(({ text }) => [
    ...[...text.matchAll(/\benv\.([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name),
    // Fields of a zod schema that validates environment variables.
    ...(text.includes('from "zod"')
      ? [...text.matchAll(/^ +([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name)
      : []),
  ]);
  const [compose] = await readRepository(["docker-compose.yml"], [".yml"]);
  const composed = [...(compose?.text.matchAll(/(?<!\$)\$\{([A-Z0-9_]+)/g) ?? [])].map(([, name]) => name);
  const known = new Set(["PATH", "HOME", "USER", "SUDO_USER", "COMPOSE_PROJECT_NAME", "ACCOUNT", "API_KEY"]);
  const names = [...new Set([...read, ...composed])].filter((name) => name !== undefined && !known.has(name));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(documented)).sort()).toEqual([]);
});
