import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect } from "vitest";
import { definitionsDirectory, useDefinitions } from "../../../../scripts/refresh/read-definition.ts";
import { refreshDataSet } from "../../../../scripts/refresh/refresh-data-set.ts";
import { runRefreshProgram } from "../../../../scripts/refresh/refresh-program.ts";
import { rollBack } from "../../../../scripts/refresh/roll-back.ts";
import { makeDirectory } from "../../../support/make-directory.ts";
import { useDeployedDatabase } from "../../../support/scratch-database.ts";
import { run } from "../../deploy/support.ts";
import { type Row, writeCsv } from "./source-files.ts";

/** Runs `npm run refresh` in this process. */
export const refreshHere = (args: string[], env: Record<string, string>) => run(runRefreshProgram, args, env);

/** Publishes whatever files there are. */
export const accepted = { force: true, acceptShrink: true, acceptGrowth: true };

export type Edits = Record<string, (sql: string) => string>;

/** Runs `work` with a copy of `db/data_set`. Each edit must change the file that its key names. */
export async function withDefinitions<Result>(edits: Edits, work: () => Promise<Result>): Promise<Result> {
  const own = definitionsDirectory;
  const copy = await makeDirectory();
  try {
    await cp(own, copy, { recursive: true });
    for (const [name, edit] of Object.entries(edits)) {
      const file = path.join(copy, name);
      const sql = await readFile(file, "utf8");
      expect(edit(sql), name).not.toBe(sql);
      await writeFile(file, edit(sql));
    }
    useDefinitions(copy);
    return await work();
  } finally {
    useDefinitions(own);
  }
}

/** Provides the tests of a file with a deployed database and a directory for source files. */
export function useRefresh() {
  const database = useDeployedDatabase();
  const select = async (sql: string, values: unknown[] = []) =>
    (await database.client.query(sql, values)).rows;
  const asPublisher = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await database.client.query("set role publisher");
    return await work().finally(() => database.client.query("reset role"));
  };
  const here = {
    database,
    directory: "",
    /** The directory of the bulk files. */
    publicData: "",
    write: (table: string, rows: Row[]) => writeCsv(here.directory, table, rows),
    select,
    /** Returns the values of all rows in one array. */
    list: async (sql: string) => (await select(sql)).flatMap((row) => Object.values<unknown>(row)),
    liveId: async (): Promise<string> => (await select("select id from dissemination.data_set"))[0].id,
    asPublisher,
    load: () => asPublisher(() => refreshDataSet(database.client, { ...accepted, from: here.directory })),
    rollBack: () => asPublisher(() => rollBack(database.client)),
    /** Runs `npm run refresh` with these arguments. */
    refresh: (...args: string[]) =>
      refreshHere(args, { DATABASE_URL: database.url, PUBLIC_DATA: here.publicData }),
    publish: (...args: string[]) => here.refresh("--from", here.directory, ...args),
  };
  beforeAll(async () => {
    here.directory = await makeDirectory();
    here.publicData = path.join(here.directory, "public");
  });
  return here;
}
