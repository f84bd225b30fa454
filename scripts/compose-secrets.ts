import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Command } from "commander";
import { describeError } from "../shared/describe-error.ts";
import { signGatewayToken } from "./stack/sign-gateway-token.ts";

const command = new Command("compose:secrets")
  .description(
    "Creates the secrets that docker-compose.yml mounts. Files that already exist are not changed.",
  )
  .option("--directory <directory>", "where to write the files", "secrets")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Only you can open the directory (mode 0700). The files in it are readable by all (0444), because Docker keeps their
mode when it mounts them, and the containers run as different users.

To change a secret, remove its file and run this command again. Remove the files of these pairs together:
  postgrest_db_uri with authenticator_password
  counters_config with counters_password
  gateway_token with jwt_secret`,
  )
  .parse();
/**
 * If the server cannot be reached, PostgREST gives up after 3 s, or 8 s if it waits for a query's result, and clients get 503. By
 * default, that takes minutes, or two hours. A server that can be reached has 5 s for a new connection: on a busy machine it needs
 * more than 2 s, and would go on starting connections that PostgREST no longer wants.
 */
const unreachable = "connect_timeout=5&tcp_user_timeout=3000&keepalives_idle=5&keepalives_interval=1";
const directory = path.resolve(command.opts<{ directory: string }>().directory);

try {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Keeps Git from committing secrets, wherever the directory is.
  await writeOnce(".gitignore", "*\n");
  for (const name of [
    "postgres_password",
    "report_service_password",
    "publisher_password",
    "jwt_secret",
    "grafana_password",
    "storage_secret_key",
    "storage_reader_secret_key",
  ]) {
    await writeOnce(name, makeSecret());
  }
  const jwtSecret = await readFile(path.join(directory, "jwt_secret"), "utf8");
  await writeOnce("gateway_token", await signGatewayToken(jwtSecret));
  for (const name of ["storage_access_key", "storage_reader_access_key"]) {
    await writeOnce(name, randomBytes(10).toString("hex").toUpperCase());
  }
  const password = makeSecret();
  await writeTogether({
    authenticator_password: password,
    postgrest_db_uri: `postgres://authenticator:${password}@postgres:5432/single_audit?${unreachable}`,
  });
  const counters = makeSecret();
  await writeTogether({ counters_password: counters, counters_config: `requirepass ${counters}` });
} catch (error) {
  process.stderr.write(`compose:secrets: ${describeError(error)}\n`);
  process.exitCode = 1;
}

function makeSecret(): string {
  return randomBytes(32).toString("hex");
}

/** Writes files that depend on one secret. If the first exists, writes none of them. */
async function writeTogether(files: Record<string, string>): Promise<void> {
  const [first, ...others] = Object.entries(files);
  if (first === undefined || !(await writeOnce(...first))) return;
  for (const [name, content] of others) await write(name, content);
}

/** @returns false if the file already exists */
async function writeOnce(name: string, content: string): Promise<boolean> {
  try {
    await write(name, content, "wx");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Writes no newline at the end, because PostgreSQL's image would treat it as part of the password. */
async function write(name: string, content: string, flag = "w"): Promise<void> {
  await writeFile(path.join(directory, name), content, { flag });
  // writeFile() applies the umask; chmod() does not.
  await chmod(path.join(directory, name), 0o444);
  process.stdout.write(`Created ${path.relative(process.cwd(), path.join(directory, name))}.\n`);
}
