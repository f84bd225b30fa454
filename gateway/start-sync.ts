import { readFile } from "node:fs/promises";
import { SignJWT } from "jose";
import { Client } from "pg";
import type { Logger } from "pino";
import { type ActiveKey, renderDocument } from "./render-document.ts";

export interface SyncOptions {
  /** Address of the database, as the role gateway_sync. */
  databaseUrl: string;
  /** Admin addresses of the gateway's nodes. */
  adminUrls: string[];
  postgrestUrl: string;
  /** What PostgREST verifies the gateway's token with. */
  jwtSecret: string;
  logger: Logger;
}

const debounceMilliseconds = 50;
/** Keys expire without a notification, and a node may have lost its configuration. */
const repeatMilliseconds = 60_000;
const reconnectMilliseconds = 1_000;
const templateFile = new URL("kong.yml", import.meta.url);

/**
 * Keeps the gateway's nodes in step with the database: posts the configuration once at the start, whenever keys,
 * tiers or agreements change, and every minute.
 *
 * @throws Error when the first configuration cannot be posted
 */
export async function startSync(options: SyncOptions): Promise<{ close: () => Promise<void> }> {
  const template = await readFile(templateFile, "utf8");
  const variables = {
    POSTGREST_URL: options.postgrestUrl,
    GATEWAY_TOKEN: await signGatewayToken(options.jwtSecret),
  };
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function project(connected: Client): Promise<void> {
    const { rows } = await connected.query<ActiveKey>("select * from access.active_keys order by id");
    const document = JSON.stringify(renderDocument(template, variables, rows));
    await Promise.all(options.adminUrls.map((url) => postDocument(url, document)));
  }

  function schedule(milliseconds: number): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(async () => {
      try {
        client ??= await connect();
        await project(client);
        schedule(repeatMilliseconds);
      } catch (error) {
        options.logger.error({ err: error }, "the gateway's configuration could not be renewed");
        schedule(reconnectMilliseconds);
      }
    }, milliseconds);
  }

  async function connect(): Promise<Client> {
    const connecting = new Client({
      connectionString: options.databaseUrl,
      application_name: "gateway-sync",
    });
    connecting.on("error", () => {
      client = undefined;
      schedule(reconnectMilliseconds);
    });
    connecting.on("notification", () => schedule(debounceMilliseconds));
    await connecting.connect();
    await connecting.query("listen access_changed");
    return connecting;
  }

  client = await connect();
  await project(client);
  schedule(repeatMilliseconds);
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}

/** The token that PostgREST knows the gateway by. It names a role that may do nothing but ask for authorization. */
export async function signGatewayToken(jwtSecret: string): Promise<string> {
  return await new SignJWT({ role: "gateway" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
}

async function postDocument(adminUrl: string, document: string): Promise<void> {
  const response = await fetch(new URL("/config?check_hash=1", adminUrl), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: document,
  });
  // 304: the node has this very document already.
  if (!response.ok && response.status !== 304) {
    throw new Error(
      `${adminUrl} refused the configuration with ${response.status}: ${await response.text()}`,
    );
  }
}
