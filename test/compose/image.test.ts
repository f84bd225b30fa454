import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeDirectory } from "../support/make-directory.ts";
import { programImage, project, readCompose } from "./read-compose.ts";

const { services, secrets } = readCompose();

test("the image contains the programs that Compose runs and the modules they import, but not the tests", async () => {
  const lines = (await readFile(path.join(project, ".dockerignore"), "utf8")).split("\n");
  const copied = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  expect(lines).toContain("*");
  expect(copied).not.toContain("test");
  for (const entry of copied) await expect(stat(path.join(project, entry)), entry).resolves.toBeDefined();
  const needed = new Set<string>();
  for (const [, { image, entrypoint = [], command = [] }] of Object.entries(services)) {
    const words = [...entrypoint, ...command];
    if (image === programImage) needed.add(words.find((word) => word.endsWith(".ts")) ?? "none");
  }
  // The loop also visits the entries that it adds: the modules that these programs import.
  for (const module of needed) {
    expect(copied, module).toContain(module.split("/")[0]);
    const text = await readFile(path.join(project, module), "utf8");
    for (const [, imported = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+\.tsx?)"/g)) {
      needed.add(path.join(path.dirname(module), imported));
    }
  }
  expect(needed.size).toBeGreaterThan(50);
});

test("npm run compose:secrets creates each secret once, in a private directory that git ignores", async () => {
  const target = path.join(await makeDirectory(), "secrets");
  const command = `umask 077; exec "${process.execPath}" --import tsx scripts/compose-secrets.ts --directory "${target}"`;
  const run = () => promisify(execFile)("/bin/sh", ["-ec", command]);
  await run();
  const wanted = Object.values(secrets).map(({ file }) => path.basename(file));
  expect((await readdir(target)).sort()).toEqual([".gitignore", ...wanted].sort());
  expect((await stat(target)).mode & 0o777).toBe(0o700);
  expect(await readFile(path.join(target, ".gitignore"), "utf8")).toBe("*\n");
  const readSecret = (name: string) => readFileSync(path.join(target, name), "utf8");
  const read = () => Object.fromEntries(wanted.map((name) => [name, readSecret(name)]));
  // Containers run as other users, so they must be able to read the secrets, whatever the umask is.
  for (const name of wanted) expect((await stat(path.join(target, name))).mode & 0o777).toBe(0o444);
  const made = read();
  expect(made.postgrest_db_uri).toEqual(
    expect.stringContaining(`authenticator:${made.authenticator_password}@postgres:5432/single_audit?`),
  );
  expect(made.counters_config).toBe(`requirepass ${made.counters_password}`);
  for (const content of Object.values(made)) expect(content).toMatch(/^\S.{19,}$/);
  await run();
  expect(read()).toEqual(made);
});
