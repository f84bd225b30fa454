import { readdir } from "node:fs/promises";
import path from "node:path";
import { quote } from "zx";
import { readRights } from "../sql/check-rights.ts";
import type { SqlFile } from "../sql/describe-sql-error.ts";
import { hashSql, readDeploymentFile, readSqlFile } from "../sql/read-sql-file.ts";
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
}

/** What a `db` directory deploys. */
export interface DatabaseFiles {
  migrations: Migration[];
  /** `db/functions`, in the order in which they can be created. */
  functions: SqlFile[];
  api: ApiFiles;
  /** `db/data_set/indexes.sql`. */
  indexes: SqlFile;
  /** What each role may do: the list that people review. */
  rights: string[];
  /** The hash of `functions`, `api`, `indexes` and `rights`. */
  sha256: string;
  /** Files of `db/data_set`. The next refresh uses them. */
  dataSet: SqlFile[];
  /** The SQL that creates publication.find_leaks(). */
  leakCheck: string;
}

/** Reads a `db` directory. */
export async function readFiles(directory: string): Promise<DatabaseFiles> {
  const dataSet = await readFolder(directory, "data_set");
  const find = (name: string): SqlFile =>
    dataSet.find((file) => path.basename(file.name) === name) ?? { name: `db/data_set/${name}`, sql: "" };
  const functions = await readFunctions(directory);
  const api = await readApiFiles(directory);
  const indexes = find("indexes.sql");
  const leakCheck = `${await readDeploymentFile("rights.sql")}${find("find_leaks.sql").sql}`;
  const rights = await readRights(directory);
  const versionFiles = api.versions.flatMap(({ files }) => files);
  return {
    migrations: await readMigrations(directory),
    functions,
    api,
    indexes,
    rights,
    sha256: hashFiles([
      ...functions,
      ...api.request,
      ...versionFiles,
      indexes,
      { name: "db/contracts/rights.txt", sql: rights.join("\n") },
    ]),
    dataSet,
    leakCheck,
  };
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
 * Reads the files of `db/api`. Each version has the files of the version before it, with the version's name replaced. A file
 * of its own folder takes the place of the file with the same name.
 */
async function readApiFiles(directory: string): Promise<ApiFiles> {
  const entries = await readdir(path.join(directory, "api"), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  refuseIfFound(
    "These folders would be ignored. Name them for a version, such as api_v1_2_0:",
    folders.filter((name) => name !== "request" && !/^(admin_)?api_v\d+(_\d+)*$/.test(name)),
  );
  const [kinds, numbers] = [/^.+(?=_v\d)/, /v\d[\d_]*$/].map((pattern) =>
    [...new Set(folders.flatMap((name) => pattern.exec(name) ?? []))].sort(compareNumbers),
  );
  const versions: ApiFiles["versions"] = [];
  for (const kind of kinds ?? []) {
    let before: { number: string; files: SqlFile[] } | undefined;
    for (const number of numbers ?? []) {
      const schema = `${kind}_${number}`;
      const own = folders.includes(schema) ? await readFolder(directory, `api/${schema}`) : [];
      const files = before ? [...renameVersion(before.files, before.number, number), ...own] : own;
      if (files.length === 0) continue;
      before = { number, files: inOrder(files) };
      versions.push({ schema, files: before.files });
    }
  }
  return { request: inOrder(await readFolder(directory, "api/request")), versions };
}

const compareNumbers = new Intl.Collator("en", { numeric: true }).compare;

function renameVersion(files: SqlFile[], from: string, to: string): SqlFile[] {
  const [old, now] = [from, to].map((number) => `version ${number.slice(1).replaceAll("_", ".")}`);
  return files.map(({ name, sql }) => ({
    name,
    sql: sql.replaceAll(from, to).replaceAll(String(old), String(now)),
  }));
}

/**
 * The last file of each name: `schema.sql`, then `general.sql`, the others by name, `common.sql`, and last the changes to the
 * version before (`changes_*.sql`). A relationship names two views, so it is in the later view's file.
 */
function inOrder(files: SqlFile[]): SqlFile[] {
  const byName = new Map(files.map((file) => [path.basename(file.name, ".sql"), file]));
  const places = [/^schema$/, /^general$/, /^(?!common$|changes_)/, /^common$/, /^changes_/];
  const placeOf = (name: string) => places.findIndex((pattern) => pattern.test(name));
  return [...byName.entries()]
    .sort(([a], [b]) => placeOf(a) - placeOf(b) || compareNumbers(a, b))
    .map(([, file]) => file);
}

const hashFiles = (files: SqlFile[]) => hashSql(files.map(({ name, sql }) => `${name}\0${sql}\0`).join(""));

/** The schemas of `db/functions`. */
export const functionSchemas = ["extensions", "data_set", "access", "publication", "ledger"];

/**
 * Reads the files of `db/functions`. Functions with a body that PostgreSQL parses when it creates them (`return …`) come after
 * those that they call: the schema extensions has only such functions, and these two call no other.
 */
async function readFunctions(directory: string): Promise<SqlFile[]> {
  const folders = await Promise.all(
    functionSchemas.map((schema) => readFolder(directory, `functions/${schema}`)),
  );
  return moveToFront(folders.flat(), ["split_name.sql", "shorten_name.sql"]);
}

/** The name of the function that a file of `db/functions` creates. */
export const nameFunction = ({ name }: SqlFile): string =>
  name
    .replace("db/functions/", "")
    .replace(/\.sql$/, "")
    .replace("/", ".");

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
