import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { pino } from "pino";
import {
  type EmbeddedGateway,
  startEmbeddedGateway,
} from "../../../gateway/embedded/start-embedded-gateway.ts";
import { type Sync, type SyncOptions, startSync } from "../../../gateway/start-sync.ts";
import { createDeployedDatabase } from "../../support/scratch-database.ts";
import { send } from "../../support/target.ts";

export const adminToken = "the token of a gateway that lives for one test only";

/** A database of this file's own, with the schemas and nothing else; its superuser's client and address. */
export async function createDatabase() {
  const scratch = await createDeployedDatabase();
  const client = new Client({ connectionString: scratch.url });
  await client.connect();
  return {
    client,
    /** As the role gateway_sync. */
    syncUrl: `${scratch.url}?options=${encodeURIComponent("-c role=gateway_sync")}`,
    issueKey: async (expiresIn?: string) => {
      const { rows } = await client.query<{ api_key: string; api_key_id: string }>(
        `select api_key, api_key_id
         from access.issue_key('individual', 'somebody@example.gov', '', now() + $1::interval)`,
        [expiresIn],
      );
      const [row] = rows;
      if (row === undefined) throw new Error("No key was made.");
      return { key: row.api_key, id: row.api_key_id };
    },
    drop: async () => {
      await client.end();
      await scratch.drop();
    },
  };
}

/** What stands behind the gateway: it answers 200 to all that gets through. */
export async function startUpstream() {
  const server = createServer((_request, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An embedded gateway that can be stopped and started again on the same ports, without its configuration. */
export async function startNode() {
  const start = (port: number, adminPort: number): Promise<EmbeddedGateway> =>
    startEmbeddedGateway({
      proxy: { host: "127.0.0.1", port },
      admin: { host: "127.0.0.1", port: adminPort, token: adminToken },
      gatewayToken: "a token",
      logger: pino({ level: "silent" }),
    });
  let gateway: EmbeddedGateway | undefined = await start(0, 0);
  const { proxyUrl, adminUrl = "" } = gateway;
  return {
    adminUrl,
    admin: async (method: string, path: string, body?: object) => {
      const response = await fetch(adminUrl + path, {
        method,
        headers: { "kong-admin-token": adminToken, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
    },
    ask: async (key: string) =>
      (await send(proxyUrl, "/general", { key: { value: key } }).catch(() => ({ status: 0 }))).status,
    stop: async () => {
      await gateway?.close();
      gateway = undefined;
    },
    start: async () => {
      gateway = await start(Number(new URL(proxyUrl).port), Number(new URL(adminUrl).port));
    },
  };
}

/** A sync with all that it logs. */
export async function startLoggedSync(
  options: Omit<SyncOptions, "logger" | "adminToken">,
): Promise<Sync & { log: () => string }> {
  let log = "";
  const write = (line: string) => {
    log += line;
  };
  const logger = pino({ base: null }, { write });
  const sync = await startSync({ ...options, adminToken, logger });
  return { ...sync, log: () => log };
}

/** Waits until `check` holds and returns how long that took. */
export async function waitFor(
  what: string,
  check: () => boolean | Promise<boolean>,
  timeoutMilliseconds = 10_000,
): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    if (await check()) return performance.now() - startedAt;
    if (performance.now() - startedAt > timeoutMilliseconds) {
      throw new Error(`After ${timeoutMilliseconds} ms it is still not so that ${what}.`);
    }
    await sleep(20);
  }
}
