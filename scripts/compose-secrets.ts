import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Command } from "commander";
import { describeError } from "../service/describe-error.ts";
import { signGatewayToken } from "./stack/sign-gateway-token.ts";

const command = new Command("compose:secrets")
  .description(
    "Makes the secrets that docker-compose.yml mounts, once: what is there already stays as it is.",
  )
  .option("--directory <directory>", "where they are kept", "secrets")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
The directory is closed to everyone else (0700). The files in it are not (0444): Docker mounts them as they are, and
the containers' users differ. Removing a file and running this again makes a new secret; postgrest_db_uri
holds authenticator_password, counters_config holds counters_password, and gateway_token is signed with jwt_secret:
remove those together.`,
  )
  .parse();
/** If the server does not answer at all, PostgREST gives up within 3 s, so clients get 503. The default is many minutes. */
const unreachable = "connect_timeout=2&tcp_user_timeout=3000";
const directory = path.resolve(command.opts<{ directory: string }>().directory);

try {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // No secret can be committed, wherever the directory is.
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

/** Files that hold one secret: all of them are made, or none. */
async function writeTogether(files: Record<string, string>): Promise<void> {
  const [first, ...others] = Object.entries(files);
  if (first === undefined || !(await writeOnce(...first))) return;
  for (const [name, content] of others) await write(name, content);
}

/** @returns whether the file was made, as none was there */
async function writeOnce(name: string, content: string): Promise<boolean> {
  try {
    await write(name, content, "wx");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Without a line end: PostgreSQL's image, for one, would take it as part of the password. */
async function write(name: string, content: string, flag = "w"): Promise<void> {
  await writeFile(path.join(directory, name), content, { flag });
  // Whatever the umask.
  await chmod(path.join(directory, name), 0o444);
  process.stdout.write(`Made ${path.relative(process.cwd(), path.join(directory, name))}.\n`);
}
