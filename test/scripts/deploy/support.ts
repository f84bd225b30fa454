import { readFileSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "pg";
import { readCatalog } from "../../../scripts/deploy/catalog.ts";
import { repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { connect } from "../../../service/connect.ts";
import { type Program, runHere } from "../../support/run-here.ts";
import { runScript } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";

/** A copy of what `db` deploys, to edit. */
export interface Copy {
  directory: string;
  edit: (file: string, change: (text: string) => string) => Promise<void>;
  write: (file: string, text: string) => Promise<void>;
  remove: (file: string) => Promise<void>;
  /** As docs/recipes.md does. */
  copyVersion: (from: string, to: string) => Promise<void>;
  dispose: () => Promise<void>;
}

export async function copyRepository(from = repositoryDirectory): Promise<Copy> {
  const parent = await mkdtemp(path.join(tmpdir(), "single-audit-db-"));
  const directory = path.join(parent, "db");
  for (const part of ["api", "contracts", "data_set", "migrations"]) {
    await cp(path.join(from, part), path.join(directory, part), { recursive: true });
  }
  const write = (file: string, text: string) => writeFile(path.join(directory, file), text);
  return {
    directory,
    write,
    edit: async (file, change) => {
      const text = await readFile(path.join(directory, file), "utf8");
      const changed = change(text);
      if (changed === text) throw new Error(`The edit of ${file} changed nothing.`);
      await write(file, changed);
    },
    copyVersion: async (from, to) => {
      for (const schema of ["api", "admin_api"]) {
        const source = path.join(directory, "api", `${schema}_${from}`);
        const target = path.join(directory, "api", `${schema}_${to}`);
        await cp(source, target, { recursive: true });
        for (const file of await readdir(target)) {
          const text = await readFile(path.join(target, file), "utf8");
          await writeFile(path.join(target, file), text.replaceAll(from, to));
        }
      }
    },
    remove: (file) => rm(path.join(directory, file), { recursive: true }),
    dispose: () => rm(parent, { recursive: true, force: true }),
  };
}

export const viewFile = "api/api_v1_1_0/additional_eins.sql";
export const viewColumns = ["report_id", "auditee_uei", "audit_year", "fac_accepted_date", "additional_ein"];

// All that follows the grants on the view.
const relationships = readFileSync(path.join(repositoryDirectory, viewFile), "utf8").replace(
  /^.*?^grant [^;]*;/ms,
  "",
);

/**
 * The file of the view additional_eins with other columns, given as SQL with or without `as name`.
 *
 * @param more.isAlone whether to leave out its relationships
 */
export function describeView(
  columns: string[],
  more: { grant?: string; tail?: string; isAlone?: boolean } = {},
): string {
  const names = columns.map((column) => column.split(" as ").at(-1)?.trim());
  return [
    "create view api_v1_1_0.additional_eins",
    "with (security_invoker = true) as",
    "select",
    columns.map((column) => `  ${column}`).join(",\n"),
    `from dissemination.additional_eins${more.tail ?? ""};`,
    "comment on view api_v1_1_0.additional_eins is 'Additional EINs';",
    ...names.map((name) => `comment on column api_v1_1_0.additional_eins.${name} is 'A column.';`),
    `grant select on api_v1_1_0.additional_eins to ${more.grant ?? "api_public, api_tribal"};`,
    more.isAlone ? "" : relationships,
  ].join("\n");
}

export const addedColumn = "report_id as other_id";

/** Runs a script of the project to its end, in a process of its own, or in this one if its program is given. */
export async function run(
  script: string | Program,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  if (typeof script === "function") {
    const { code, stdout, stderr } = await runHere(script, args, { env });
    return { code, output: stderr + stdout };
  }
  const { output, exited } = runScript(`${script}.ts`, args, { HOME: tmpdir(), ...env });
  const code = await exited;
  return { code, output: output() };
}

/** The API of a database, as its catalog has it. */
export async function readApiCatalog(databaseUrl: string): Promise<string> {
  return (await readAll(databaseUrl, ["api"])).join("\n");
}

/** Everything that the project owns in a database, a line a part. */
export async function readAll(
  databaseUrl: string,
  scopes = ["api", "data_set", "durable"],
): Promise<string[]> {
  const client = await connect(databaseUrl, "test");
  const parts = await readCatalog(client).finally(() => client.end());
  return parts
    .filter(({ scope }) => scopes.includes(scope))
    .map(({ object, statement }) => `${object}: ${statement}`);
}

/** The address of the same database for another login. */
export function withLogin(databaseUrl: string, name: string, password: string): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [name, password];
  return url.href;
}

/** Publishes public and suppressed submissions. */
export async function publishSample(client: Client): Promise<void> {
  const sample = await makeSmallSample(200);
  await client.query("set role publisher");
  await loadDataSet(client, { source: "test", files: await findFiles(sample.directory) });
  await client.query("reset role");
  await sample.remove();
}

/** What the database says against each statement. */
export async function askEach(databaseUrl: string, statements: string[]): Promise<string[]> {
  const client = await connect(databaseUrl, "test");
  const answers: string[] = [];
  for (const statement of statements) {
    answers.push(
      await client.query(statement).then(
        () => `${statement}: allowed`,
        (error: Error) => error.message,
      ),
    );
  }
  await client.end();
  return answers;
}

export async function queryOn<Row extends Record<string, unknown>>(
  databaseUrl: string,
  sql: string,
): Promise<Row[]> {
  const client = await connect(databaseUrl, "test");
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** So that the next deployment finds nothing promised to clients. */
export async function forgetPromises(databaseUrl: string): Promise<void> {
  await queryOn(databaseUrl, "update deployment.api_schemas set is_promise = false where is_promise");
}

/** The demonstration key's ID, by which PostgREST knows it. */
export async function findKeyId(databaseUrl: string, tier = "demo"): Promise<string> {
  const [row] = await queryOn<{ id: string }>(
    databaseUrl,
    `select id from access.api_keys where tier = '${tier}'`,
  );
  return row?.id ?? "";
}
