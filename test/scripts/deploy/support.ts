import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { readCatalog } from "../../../scripts/deploy/catalog.ts";
import { repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy as runProgram } from "../../../scripts/deploy/deploy-program.ts";
import { beginLedger } from "../../../scripts/refresh/ledger.ts";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { readFacts } from "../../../scripts/sql/check-rights.ts";
import { connect } from "../../../shared/connect.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { queryOn } from "../../support/query-on.ts";
import { type Program, runHere } from "../../support/run-here.ts";
import {
  createDeployedDatabase,
  type DeployedDatabase,
  type ScratchDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { makeSmallSample } from "../../support/small-sample.ts";

export const viewFile = "api/api_v1_1_0/additional_eins.sql";

/** Gives each test that follows its own copy of the deployed folders of `db`, to edit. */
export function useCopy() {
  let directory = "";
  const at = (file: string) => path.join(directory, file);
  const read = (file: string) => readFile(at(file), "utf8");
  const write = (file: string, text: string) => writeFile(at(file), text);
  const edit = async (file: string, change: (text: string) => string) => {
    const text = await read(file);
    if (change(text) === text) throw new Error(`The edit of ${file} changed nothing.`);
    await write(file, change(text));
  };
  beforeEach(async () => {
    directory = path.join(await makeDirectory(), "db");
    for (const part of ["api", "contracts", "data_set", "functions", "migrations", "released.sha256"])
      await cp(path.join(repositoryDirectory, part), at(part), { recursive: true });
  });
  return {
    get directory() {
      return directory;
    },
    read,
    write,
    edit,
    remove: (file: string) => rm(at(file), { recursive: true }),
    /** Adds the column other_id to the view of `viewFile`. */
    addColumn: () =>
      edit(viewFile, (text) =>
        text
          .replace("\nfrom ", ",\n  report_id as other_id\nfrom ")
          .concat("comment on column api_v1_1_0.additional_eins.other_id is E'Other ID\\nA column.';\n"),
      ),
    /** Writes a migration with a later date than those of the repository. */
    migrate: (sql: string, number = 1) => write(`migrations/2099123100000000${number}_step.sql`, `${sql};\n`),
    /** Copies version v1_1_0 to a new version, as docs/recipes.md does. */
    copyVersion: async (to: string) => {
      for (const from of ["api/api_v1_1_0", "api/admin_api_v1_1_0"]) {
        const target = from.replace("v1_1_0", to);
        await cp(at(from), at(target), { recursive: true });
        for (const file of (await readdir(at(target))).filter((name) => name.endsWith(".sql")))
          await edit(`${target}/${file}`, (text) => text.replaceAll("v1_1_0", to));
      }
      await edit("contracts/rights.txt", (text) => {
        const lines = text.split("\n").filter((line) => line.includes("v1_1_0"));
        return text + lines.map((line) => `${line.replaceAll("v1_1_0", to)}\n`).join("");
      });
    },
  };
}

/** A database on a separate server, for tests that change roles: all databases of a server share its roles. */
export function useOwnServer(prepare: (own: DeployedDatabase) => Promise<unknown>): DeployedDatabase {
  const own = useOtherServer() as DeployedDatabase;
  beforeAll(async () => {
    own.client = await connect(own.url, "test");
    await prepare(own);
  });
  afterAll(() => own.client.end());
  return own;
}

/** Runs a program of the project to its end in this process. Its output is stderr, then stdout. */
export async function run(program: Program, args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runHere(program, args, { env });
  return { code, output: stderr + stdout };
}

/** Runs `npm run db:deploy` for a database of a test, from files that Git may not know. */
export const runDeploy: Program = async (context) => {
  context.argv.push("--accept-unknown-release");
  await runProgram(context);
};

/** Describes all of the project's objects in a database that belong to these scopes, and the rights as durable ones. */
export async function readAll(databaseUrl: string, scopes = ["api", "durable", "outside"]) {
  const client = await connect(databaseUrl, "test");
  try {
    const rows = await readCatalog(client);
    const facts = await readFacts(client);
    const rights = facts.map((fact) => ({ object: "rights", scope: "durable", statement: fact }));
    return [...rows, ...rights].filter(({ scope }) => scopes.includes(scope));
  } finally {
    await client.end();
  }
}

/** The URL of the same database for another login, whose password is "secret". */
export function withLogin(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [name, "secret"];
  return url.href;
}

/** Publishes public and suppressed submissions. */
export async function publishSample(client: Client): Promise<void> {
  const directory = await makeSmallSample(200);
  await client.query("set role publisher");
  await beginLedger(client, await makeDirectory());
  await refreshDataSet(client, { from: directory, force: true });
  await client.query("reset role");
}

/** Gives each test that follows its own deployed database, and its own copy of the deployed folders to deploy to it. */
export function useDeployments() {
  const other = useOtherServer();
  const copy = useCopy();
  const own = {} as { database: ScratchDatabase; env: Record<string, string> };
  beforeEach(async () => {
    own.database = await createDeployedDatabase();
    own.env = { DATABASE_URL: own.database.url, SCRATCH_URL: other.url };
  });
  afterEach(() => own.database.drop());
  const deploy = (...args: string[]) => run(runDeploy, ["--directory", copy.directory, ...args], own.env);
  return Object.assign(own, {
    copy,
    deploy,
    query: (sql: string) => queryOn(own.database.url, sql),
    /** Deploys, and expects this exit status and these texts. */
    exits: async (status: number, args: string[], ...texts: (string | RegExp)[]) => {
      const { code, output } = await deploy(...args);
      expect(code, output).toBe(status);
      for (const text of texts) expect(output).toMatch(text);
    },
  });
}
