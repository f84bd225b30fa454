import { createHash } from "node:crypto";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { startProgram } from "../../scripts/servers/run-program.ts";
import { preparePostgrest } from "../../scripts/stack/postgrest.ts";
import { signGatewayToken } from "../../scripts/stack/sign-gateway-token.ts";
import { type Answer, type Request, send } from "./target.ts";

/** A PostgREST on a test's own database. Requests go to it directly, with the gateway's token and a key's hash. */
export interface ScratchService {
  /** PostgREST's process ID. */
  pid: number;
  /** The environment of a gateway in front of it. */
  gatewayEnv: { POSTGREST_URL: string; GATEWAY_TOKEN: string };
  /** Sends a request with the hash of the demonstration key, unless `headers` has another hash. */
  request: (path: string, options?: Request) => Promise<Answer>;
  stop: () => Promise<void>;
}

/** @param settings overrides and additions to PostgREST's environment */
export async function startScratchService(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<ScratchService> {
  const port = await findFreePort();
  const jwtSecret = "the secret of a service that lives for one test only";
  const program = await preparePostgrest({
    binary: process.env.POSTGREST_BIN,
    databaseUrl,
    jwtSecret,
    port,
    adminPort: await findFreePort(),
    settings,
  });
  const postgrest = startProgram(program);
  await postgrest.ready;
  const url = `http://127.0.0.1:${port}`;
  const token = await signGatewayToken(jwtSecret);
  const headers = {
    authorization: `Bearer ${token}`,
    "x-api-key-sha256": createHash("sha256").update("DEMO_KEY").digest("hex"),
  };
  return {
    pid: postgrest.pid ?? 0,
    gatewayEnv: { POSTGREST_URL: url, GATEWAY_TOKEN: token },
    request: (path, options = {}) =>
      send(url, path, { ...options, headers: { ...headers, ...options.headers } }),
    stop: () => postgrest.stop(),
  };
}
