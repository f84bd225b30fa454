import { access, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { readContracts, removeContract, writeContract } from "./contract.ts";
import { describeTypes, typesFile } from "./write-types.ts";

const form = /^v\d+(_\d+)*$/;

/** The schemas of a version: `api_v1_1_0` and, where there is one, `admin_api_v1_1_0`. */
const schemasOf = (version: string) => [`api_${version}`, `admin_api_${version}`];

/**
 * Copies the files and contracts of a version under another name. The old version stays.
 *
 * @returns the directories and files that were made
 * @throws Error when a name has not the form v1_2_0, the old version is not there, or the new one is; or when the new
 * one is older than the oldest there is, which is what clients get that name none
 */
export async function copyVersion(directory: string, from: string, to: string): Promise<string[]> {
  for (const version of [from, to]) checkForm(version);
  if (!(await isThere(path.join(directory, "api", `api_${from}`))))
    throw new Error(`There is no version ${from}. There are: ${(await listVersions(directory)).join(", ")}.`);
  const oldest = (await listVersions(directory)).sort(compareVersions)[0] ?? from;
  if (compareVersions(to, oldest) < 0)
    throw new Error(
      `${to} is older than ${oldest}. Who names no version gets the oldest, and would get other answers. Choose a later version.`,
    );
  const made: string[] = [];
  for (const [index, target] of schemasOf(to).entries()) {
    const source = path.join(directory, "api", schemasOf(from)[index] ?? "");
    if (!(await isThere(source))) continue;
    const copy = path.join(directory, "api", target);
    if (await isThere(copy)) throw new Error(`${copy} is there already. Choose another version.`);
    await mkdir(copy);
    for (const file of await readdir(source)) {
      const text = await readFile(path.join(source, file), "utf8");
      await writeFile(path.join(copy, file), rename(text, from, to));
    }
    made.push(copy);
  }
  const contracts = path.join(directory, "contracts");
  for (const contract of await readContracts(contracts)) {
    if (!schemasOf(from).includes(contract.schema)) continue;
    const copy = JSON.parse(rename(JSON.stringify(contract), from, to));
    await writeContract(contracts, copy);
    made.push(path.join(contracts, `${copy.schema}.json`));
  }
  return made;
}

/**
 * Removes the files and contracts of a version, and its types for clients.
 *
 * @returns what is removed, or would be
 */
export async function removeVersion(directory: string, version: string, really: boolean): Promise<string[]> {
  checkForm(version);
  const versions = await listVersions(directory);
  if (!versions.includes(version))
    throw new Error(`There is no version ${version}. There are: ${versions.join(", ")}.`);
  if (versions.length === 1) throw new Error(`${version} is the only version there is.`);
  const removed: string[] = [];
  for (const schema of schemasOf(version)) {
    for (const target of [
      path.join(directory, "api", schema),
      path.join(directory, "contracts", `${schema}.json`),
    ]) {
      if (await isThere(target)) removed.push(target);
    }
    if (!really) continue;
    await rm(path.join(directory, "api", schema), { recursive: true, force: true });
    await removeContract(path.join(directory, "contracts"), schema);
  }
  if (really) await writeFile(typesFile(directory), await describeTypes(directory));
  return removed;
}

/**
 * Writes the migration that announces a version's end.
 *
 * @returns the file
 */
export async function writeRetirement(
  directory: string,
  version: string,
  retirement: { deprecated: Date; sunset: Date; link: string },
): Promise<string> {
  checkForm(version);
  const versions = await listVersions(directory);
  if (!versions.includes(version))
    throw new Error(`There is no version ${version}. There are: ${versions.join(", ")}.`);
  const { deprecated, sunset, link } = retirement;
  const stamp = new Date().toISOString().replaceAll(/\D/g, "");
  const file = path.join(directory, "migrations", `${stamp}_retire_${version}.sql`);
  const sql = `-- Announces that version ${version} is served until ${sunset.toISOString().slice(0, 10)}, and not after its removal.
-- Lock level: one row of a small table.

insert into deployment.retired_versions (version, deprecated_at, sunset_at, link)
values ('${version}', '${deprecated.toISOString()}', '${sunset.toISOString()}', '${link.replaceAll("'", "''")}')
on conflict (version) do update
set deprecated_at = excluded.deprecated_at, sunset_at = excluded.sunset_at, link = excluded.link;
`;
  await writeFile(file, sql);
  return file;
}

async function listVersions(directory: string): Promise<string[]> {
  const names = await readdir(path.join(directory, "api"));
  return names.filter((name) => name.startsWith("api_")).map((name) => name.slice("api_".length));
}

/** As request.pre_config() orders them. */
function compareVersions(a: string, b: string): number {
  const numbers = (version: string) => version.slice(1).split("_").map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  const at = left.findIndex((number, index) => number !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}

/** In names of schemas (v1_1_0) and in texts (version 1.1.0). */
function rename(text: string, from: string, to: string): string {
  const dotted = (version: string) => version.slice(1).replaceAll("_", ".");
  return text
    .replaceAll(new RegExp(`\\b((?:admin_)?api_)${from}\\b`, "g"), `$1${to}`)
    .replaceAll(`version ${dotted(from)}`, `version ${dotted(to)}`);
}

function checkForm(version: string): void {
  if (!form.test(version)) throw new Error(`${JSON.stringify(version)} should be a version such as v1_2_0.`);
}

async function isThere(target: string): Promise<boolean> {
  return await access(target).then(
    () => true,
    () => false,
  );
}
