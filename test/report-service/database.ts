import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { target } from "../support/target.ts";

/** The tokens of a test, seen as the database's superuser. */
export interface Tokens {
  /** Makes a token as access.issue_access_token() does. */
  issue(reportId: string): Promise<string>;
  expire(token: string): Promise<void>;
  isSpent(token: string): Promise<boolean>;
  /** Removes every token it made. */
  close(): Promise<void>;
}

export function databaseUrl(): URL {
  return new URL(target.databaseUrl);
}

/** The database's address for a connection with the rights of report_service alone, at another port if given. */
export function serviceDatabaseUrl(port?: number): string {
  const url = databaseUrl();
  if (port !== undefined) url.host = `127.0.0.1:${port}`;
  url.searchParams.set("options", "-c role=report_service");
  return url.href.replaceAll("+", "%20");
}

export async function openTokens(): Promise<Tokens> {
  const pool = new Pool({ connectionString: databaseUrl().href, max: 4 });
  const issued: string[] = [];
  return {
    issue: async (reportId) => {
      const token = randomUUID();
      await pool.query(
        `insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at)
         select sha256(uuid_send($1)), id, $2, now() + interval '1 minute'
         from access.api_keys where key_prefix = 'DEMO_KEY'`,
        [token, reportId],
      );
      issued.push(token);
      return token;
    },
    expire: async (token) => {
      await pool.query(
        "update access.access_tokens set expires_at = now() where token_sha256 = sha256(uuid_send($1))",
        [token],
      );
    },
    isSpent: async (token) => {
      const { rows } = await pool.query<{ spent: boolean }>(
        "select redeemed_at is not null as spent from access.access_tokens where token_sha256 = sha256(uuid_send($1))",
        [token],
      );
      if (rows[0] === undefined) throw new Error("There is no such token.");
      return rows[0].spent;
    },
    close: async () => {
      await pool.query(
        `delete from access.access_tokens using unnest($1::uuid[]) as token
         where token_sha256 = sha256(uuid_send(token))`,
        [issued],
      );
      await pool.end();
    },
  };
}
