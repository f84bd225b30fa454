import { readdir } from "node:fs/promises";
import path from "node:path";
import { quote } from "zx";
import type { SqlFile } from "../sql/describe-sql-error.ts";
import { hashSql, readSqlFile } from "../sql/read-sql-file.ts";
import { type Contract, readContracts } from "./contract.ts";
import { refuseIfFound } from "./deployment-refused.ts";

/** One file of `db/migrations`. */
export interface Migration extends SqlFile {
  /** The file name without `.sql`, as the database records it. */
  id: string;
  path: string;
  sha256: string;
  /** Whether it cannot run in a transaction. Its first line then says why. */
  noTransaction: boolean;
}

/** `db/api`: the files of `request` and of each served schema, in order. */
export interface ApiFiles {
  request: SqlFile[];
  versions: { schema: string; files: SqlFile[] }[];
  sha256: string;
}

/** What a `db` directory deploys. */
export interface DatabaseFiles {
  migrations: Migration[];
  api: ApiFiles;
  /** What `api` serves once a refresh has built the data set from `dataSet`. `npm run db:check` keeps them up to date. */
  contracts: Contract[];
  /** Files of `db/data_set`, by name. The next refresh uses them. */
  dataSet: Record<string, SqlFile>;
  /** The hashes of these files. That of find_leaks.sql includes the rules that it calls. */
  definitions: Record<string, string>;
  /** The SQL that creates publication.find_leaks(), and the rules for API objects. */
  leakCheck: string;
}

/** Reads a `db` directory. */
export async function readFiles(directory: string): Promise<DatabaseFiles> {
  const files = await readFolder(directory, "data_set");
  const dataSet = Object.fromEntries(files.map((file) => [path.basename(file.name), file]));
  const definitions = Object.fromEntries(files.map(({ name, sql }) => [path.basename(name), hashSql(sql)]));
  const leakCheck = [...(await readRules()), dataSet[leakFile]].map((file) => file?.sql ?? "").join("\n");
  return {
    migrations: await readMigrations(directory),
    api: await readApiFiles(directory),
    contracts: await readContracts(directory),
    dataSet,
    definitions: { ...definitions, [leakFile]: hashSql(leakCheck) },
    leakCheck,
  };
}

const leakFile = "find_leaks.sql";

/** Reads the rules for API objects, which the leak check calls, in the order in which they must be created. */
async function readRules(): Promise<SqlFile[]> {
  const root = path.resolve(import.meta.dirname, "../../db");
  const files = await readFolder(root, "deployment");
  const find = (name: string) => files.filter((file) => path.basename(file.name) === name);
  const rules = await readFolder(root, "deployment/rules");
  return [
    ...find("api_objects.sql"),
    ...find("callable_functions.sql"),
    ...rules,
    ...find("broken_rules.sql"),
  ];
}

async function readMigrations(directory: string): Promise<Migration[]> {
  return (await readFolder(directory, "migrations")).map((file) => ({
    ...file,
    id: path.basename(file.name, ".sql"),
    path: path.join(directory, "migrations", path.basename(file.name)),
    sha256: hashSql(file.sql),
    noTransaction: /^-- No transaction: \S/.test(file.sql),
  }));
}

/**
 * Reads the files of `db/api`. In each folder, `schema.sql` comes first, then `general.sql`, then the others by name. A
 * relationship names two views, so it is in the later view's file. Each table has a relationship with `general`.
 */
async function readApiFiles(directory: string): Promise<ApiFiles> {
  const entries = await readdir(path.join(directory, "api"), { withFileTypes: true });
  const schemas = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const folders = await Promise.all(
    schemas.sort().map(async (schema) => ({
      schema,
      files: moveToFront(await readFolder(directory, `api/${schema}`), ["schema.sql", "general.sql"]),
    })),
  );
  const all = folders.flatMap(({ files }) => files);
  return {
    request: folders.find(({ schema }) => schema === "request")?.files ?? [],
    versions: folders.filter(({ schema }) => schema !== "request"),
    sha256: hashSql(all.map(({ name, sql }) => `${name}\0${sql}\0`).join("")),
  };
}

/** Moves the files with these names to the front, in this order. */
function moveToFront(files: SqlFile[], names: string[]): SqlFile[] {
  const first = names.flatMap((name) => files.filter((file) => path.basename(file.name) === name));
  return [...first, ...files.filter((file) => !first.includes(file))];
}

async function readFolder(directory: string, folder: string): Promise<SqlFile[]> {
  const all = await readdir(path.join(directory, folder));
  refuseIfFound(
    "These files would be ignored, because their names do not end with .sql in lowercase. Rename them:",
    all
      .filter((name) => /\.sql$/i.test(name) && !name.endsWith(".sql"))
      .map((name) => describeRenaming(folder, name)),
  );
  const names = all.filter((name) => name.endsWith(".sql")).sort();
  return await Promise.all(
    names.map(async (name) => ({
      name: `db/${folder}/${name}`,
      sql: await readSqlFile(path.join(directory, folder, name)),
    })),
  );
}

function describeRenaming(folder: string, name: string): string {
  const [from, to] = [name, name.replace(/\.sql$/i, ".sql")].map((file) => quote(`db/${folder}/${file}`));
  return `git mv ${from} ${to}`;
}
