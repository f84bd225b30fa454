import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseJson } from "../../shared/parse-json.ts";
import { type LoginRole, loginRoles } from "../deploy/role-passwords.ts";

/** Secrets that the parts of the stack share. */
export interface Secrets {
  superuserPassword: string;
  rolePasswords: Record<LoginRole, string>;
  jwtSecret: string;
  /** Keys that were made for trying the service out on this machine. */
  sampleKeys: { individual?: string; tribal?: string };
}

/** Reads the stack's secrets, or makes them on the first start. Kept in a file of mode 0600. */
export async function readOrCreateSecrets(directory: string): Promise<Secrets> {
  const file = path.join(directory, "secrets.json");
  if (existsSync(file)) return parseJson<Secrets>(file, await readFile(file, "utf8"));
  const rolePasswords = Object.fromEntries(loginRoles.map((role) => [role, makeSecret()]));
  const secrets: Secrets = {
    superuserPassword: makeSecret(),
    rolePasswords: rolePasswords as Record<LoginRole, string>,
    jwtSecret: makeSecret(),
    sampleKeys: {},
  };
  await writePrivateJson(file, secrets);
  return secrets;
}

const makeSecret = () => randomBytes(32).toString("hex");

/** Writes a file that only its owner may read, and replaces it atomically. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.part`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.part`, file);
}
