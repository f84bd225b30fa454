import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { escapeIdentifier } from "pg";
import { connect } from "../../service/connect.ts";
import { findFreePort } from "./find-free-port.ts";
import { startPostgres } from "./postgres.ts";

/** Makes empty databases, to try things on. */
export interface ScratchServer {
  create: () => Promise<string>;
  /** Removes all that was made. */
  close: () => Promise<void>;
}

/**
 * A server for databases that are thrown away: the one at `serverUrl` (as superuser), or else a PostgreSQL of its
 * own in a temporary directory.
 */
export async function startScratchServer(serverUrl?: string): Promise<ScratchServer> {
  const closes: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of closes.splice(0).reverse()) await step();
  };
  try {
    const isOwn = serverUrl === undefined;
    const url = isOwn ? await startServer(closes) : serverUrl;
    const create = async () => {
      const name = `scratch_${randomUUID().replaceAll("-", "")}`;
      await runOn(url, `create database ${escapeIdentifier(name)} template template0`);
      if (!isOwn) closes.push(() => runOn(url, `drop database ${escapeIdentifier(name)} with (force)`));
      const address = new URL(url);
      address.pathname = `/${name}`;
      return address.href;
    };
    return { create, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startServer(closes: (() => Promise<unknown>)[]): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-scratch-"));
  closes.push(() => rm(directory, { recursive: true, force: true }));
  // PostgreSQL's unprivileged user passes through.
  await chmod(directory, 0o711);
  return await startPostgres({
    directory,
    port: await findFreePort(),
    superuserPassword: randomUUID(),
    isThrownAway: true,
    keep: (child) => void closes.push(() => child.stop(2000)),
  });
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = await connect(url, "db-check");
  await client.query(sql).finally(() => client.end());
}
