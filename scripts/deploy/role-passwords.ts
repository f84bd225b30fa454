import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { escapeLiteral } from "pg";
import { DeploymentRefused } from "./deployment-refused.ts";

/** The roles that services connect as. */
export const loginRoles = ["authenticator", "report_service", "site", "publisher"] as const;
export type LoginRole = (typeof loginRoles)[number];
/** Passwords to set. Roles without an entry keep theirs. */
export type Passwords = Partial<Record<LoginRole, string | undefined>>;

/**
 * The statements that set passwords of login roles. They contain only SCRAM verifiers, so that no log can hold a password.
 *
 * @throws DeploymentRefused if clients would send another password than the one that is set
 */
export function describePasswords(passwords: Passwords): string[] {
  return loginRoles.flatMap((role) => {
    const password = passwords[role];
    if (password === undefined) return [];
    if (isReplacedByClients(password))
      throw new DeploymentRefused(
        `Nothing was changed. PostgreSQL's clients replace some characters in the password of ${role}, such as no-break spaces and full-width letters, so it would not work. Choose another password.`,
      );
    return [`alter role ${role} with password ${escapeLiteral(computeScramVerifier(password))}`];
  });
}

/** Whether SASLprep (RFC 4013) changes a password: spaces, characters that are not shown, and compatibility forms. */
const isReplacedByClients = (password: string) =>
  password.normalize("NFKC") !== password || /[\p{Default_Ignorable_Code_Point}\u1680\u1806]/u.test(password);

/** The form in which PostgreSQL keeps a password (PostgreSQL: pg_authid.rolpassword; RFC 5803). */
function computeScramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const hmac = (text: string) => createHmac("sha256", salted).update(text).digest();
  const storedKey = createHash("sha256").update(hmac("Client Key")).digest("base64");
  const serverKey = hmac("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
