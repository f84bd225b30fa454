import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { startProgram } from "../../scripts/servers/run-program.ts";
import { preparePostgrest } from "../../scripts/stack/postgrest.ts";
import { signGatewayToken } from "../../scripts/stack/sign-gateway-token.ts";
import { connect } from "../../service/connect.ts";
import { type Answer, type Request, send } from "./target.ts";

/** PostgREST on a database of a test's own, asked as the gateway asks it. */
export interface ScratchService {
  /** PostgREST's process. */
  pid: number;
  request: (path: string, apiKeyId: string, options?: Request) => Promise<Answer>;
  stop: () => Promise<void>;
}

export async function startScratchService(databaseUrl: string): Promise<ScratchService> {
  const port = await findFreePort();
  const jwtSecret = "the secret of a service that lives for one test only";
  const program = await preparePostgrest({
    binary: process.env.POSTGREST_BIN,
    databaseUrl,
    jwtSecret,
    port,
    adminPort: await findFreePort(),
  });
  const postgrest = startProgram(program);
  await postgrest.ready;
  const url = `http://127.0.0.1:${port}`;
  const client = await connect(databaseUrl, "test");
  const authorization = `Bearer ${await signGatewayToken(jwtSecret)}`;
  return {
    pid: postgrest.pid ?? 0,
    request: async (path, apiKeyId, options = {}) => {
      const { rows } = await client.query(
        "select encode(key_sha256, 'hex') as hash from access.api_keys where id = $1",
        [apiKeyId],
      );
      const headers = { ...options.headers, authorization, "x-api-key-sha256": String(rows[0]?.hash) };
      return await send(url, path, { ...options, headers });
    },
    stop: async () => {
      await client.end();
      await postgrest.stop();
    },
  };
}
