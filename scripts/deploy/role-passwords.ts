import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { escapeLiteral } from "pg";

/** The roles that services connect as. */
export const loginRoles = ["authenticator", "report_service", "publisher"] as const;
export type LoginRole = (typeof loginRoles)[number];
/** Passwords to set. Roles without an entry keep theirs. */
export type Passwords = Partial<Record<LoginRole, string | undefined>>;

/** The statements that set passwords of login roles. They contain only SCRAM verifiers, so that no log can hold a password. */
export function describePasswords(passwords: Passwords): string[] {
  return loginRoles.flatMap((role) => {
    const password = passwords[role];
    if (password === undefined) return [];
    return [`alter role ${role} with password ${escapeLiteral(computeScramVerifier(password))}`];
  });
}

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
