import { SignJWT } from "jose";
import type { ChildProcess } from "../scripts/servers/child-process.ts";
import { findFreePort } from "../scripts/servers/find-free-port.ts";
import { startPostgrest } from "../scripts/stack/postgrest.ts";
import type { BenchStack } from "./start-bench-stack.ts";

export interface BarePostgrest {
  url: string;
  /** What makes a request one of `api_public`, as a service does that gives its clients tokens. */
  token: { authorization: string };
  stop: () => Promise<void>;
}

/** PostgREST on the stack's database, with nothing that it calls before a request: who sends no token is `api_public`. */
export async function startBarePostgrest({ facts, secrets }: BenchStack): Promise<BarePostgrest> {
  const databaseUrl = new URL(facts.database_url);
  databaseUrl.username = "authenticator";
  databaseUrl.password = secrets.rolePasswords.authenticator;
  const children: ChildProcess[] = [];
  const url = await startPostgrest(
    {
      binary: process.env.POSTGREST_BIN,
      databaseUrl: databaseUrl.href,
      jwtSecret: secrets.jwtSecret,
      port: await findFreePort(),
      adminPort: await findFreePort(),
      settings: {
        PGRST_DB_PRE_CONFIG: "",
        PGRST_DB_PRE_REQUEST: "",
        PGRST_DB_SCHEMAS: "api_v1_1_0",
        PGRST_DB_EXTRA_SEARCH_PATH: "request",
        PGRST_DB_MAX_ROWS: "20000",
        PGRST_DB_ANON_ROLE: "api_public",
      },
    },
    (child) => children.push(child),
  );
  const token = await new SignJWT({ role: "api_public" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(secrets.jwtSecret));
  return {
    url,
    token: { authorization: `Bearer ${token}` },
    stop: async () => {
      for (const child of children) await child.stop(5000);
    },
  };
}
