import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { readRepository } from "./support/read-repository.ts";

// docs/configuration.md repeats the environment variables that each program's --help prints.
// To update it, run `npx vitest run --mode slow test/configuration.slow.test.ts -u`.

const project = path.resolve(import.meta.dirname, "..");
const file = path.join(project, "docs/configuration.md");

/** The scripts, with the heading of each in the document. */
const programs = {
  start: "npm start",
  "report-service": "Report service",
  site: "Site in its own process",
  refresh: "npm run refresh, and the refresher",
  "db-deploy": "npm run db:deploy",
  "db-check": "npm run db:check",
  "db-watch": "npm run db:watch",
  keys: "npm run keys, npm run agreements",
  smoke: "npm run smoke",
  sample: "npm run sample",
  "gateway-embedded": "npm run gateway:embedded",
};

it("docs/configuration.md lists the environment variables of every program, as --help prints them", async () => {
  const sections = await Promise.all(
    Object.entries(programs).map(
      async ([name, title]) => `## ${title}\n\n\`\`\`text\n${await readEnvironment(name)}\n\`\`\`\n`,
    ),
  );
  const [before = "", , after = ""] = (await readFile(file, "utf8")).split(/^(?:<!-- (?:begin|end) -->)$/m);
  await expect(`${before}<!-- begin -->\n${sections.join("\n")}<!-- end -->${after}`).toMatchFileSnapshot(
    file,
  );
});

async function readEnvironment(name: string): Promise<string> {
  const args = ["--import", "tsx", `scripts/${name}.ts`, "--help"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project });
  const [, block] = /^(Environment[\s\S]*?)(?:\n\n\S|\n*$(?![\s\S]))/m.exec(stdout) ?? [];
  return (block ?? "").trimEnd();
}

it("docs/configuration.md or .env.example has each variable that the code or docker-compose.yml reads", async () => {
  const documented = `${await readFile(file, "utf8")}\n${await readFile(path.join(project, ".env.example"), "utf8")}`;
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
