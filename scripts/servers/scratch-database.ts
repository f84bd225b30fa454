import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { escapeIdentifier } from "pg";
import { connect } from "../../shared/connect.ts";
import { findFreePort } from "./find-free-port.ts";
import { preparePostgres } from "./postgres.ts";
import { startProgram } from "./run-program.ts";

export interface ScratchDatabase {
  url: string;
  drop: () => Promise<void>;
}

/** Creates throwaway databases. */
export interface ScratchServer {
  /** Returns the URL of a new, empty database. */
  create: () => Promise<string>;
  /** Removes everything that was created. */
  close: () => Promise<unknown>;
}

/** Uses the server at `serverUrl`, as its superuser, or else starts a PostgreSQL in a temporary directory. */
export async function startScratchServer(serverUrl?: string): Promise<ScratchServer> {
  if (serverUrl === undefined) return await startOwnServer();
  const made: ScratchDatabase[] = [];
  const create = async () => {
    const database = await createScratchDatabase(serverUrl);
    made.push(database);
    return database.url;
  };
  return { create, close: () => Promise.all(made.map(({ drop }) => drop())) };
}

/** What `create database` needs, so that text sorts the same way on every machine. */
export const requiredLocale = "encoding 'UTF8' locale_provider builtin builtin_locale 'C.UTF-8'";

/** Creates a database on a server, as its superuser. */
export async function createScratchDatabase(
  serverUrl: string,
  template = "template0",
): Promise<ScratchDatabase> {
  const name = `scratch_${randomUUID().replaceAll("-", "")}`;
  // Copies files of a template that is not empty, which takes half the CPU time.
  const options = template === "template0" ? requiredLocale : "strategy file_copy";
  await runOn(serverUrl, `create database ${name} template ${escapeIdentifier(template)} ${options}`);
  const { href } = Object.assign(new URL(serverUrl), { pathname: `/${name}` });
  return { url: href, drop: () => runOn(serverUrl, `drop database ${name} with (force)`) };
}

async function startOwnServer(): Promise<ScratchServer> {
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-scratch-"));
  // PostgreSQL's unprivileged user must be able to enter the directory.
  await chmod(directory, 0o711);
  const options = {
    directory,
    port: await findFreePort(),
    superuserPassword: randomUUID(),
    isThrownAway: true,
  };
  const { program, url } = await preparePostgres(options);
  const child = startProgram(program);
  const close = async () => {
    await child.stop();
    await rm(directory, { recursive: true, force: true });
  };
  await child.ready.catch(async (error) => {
    await close();
    throw error;
  });
  return { create: (await startScratchServer(url)).create, close };
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = await connect(url, "scratch-database");
  await client.query(sql).finally(() => client.end());
}
