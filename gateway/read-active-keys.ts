import { Client, type ClientBase, type ClientConfig } from "pg";
import type { ActiveKey } from "./render-document.ts";

/** Reads the keys that are active now. */
export async function readActiveKeys(client: ClientBase): Promise<ActiveKey[]> {
  const { rows } = await client.query<ActiveKey>(
    `select id, tier, key_sha256, requests_per_hour, requests_per_day, limited_by
     from access.active_keys
     order by id`,
  );
  return rows;
}

/** Reads the active keys once, as the role gateway_sync. */
export async function readActiveKeysOnce(database: ClientConfig): Promise<ActiveKey[]> {
  const client = new Client({
    ...database,
    connectionTimeoutMillis: 5_000,
    application_name: "gateway-render",
  });
  await client.connect();
  try {
    return await readActiveKeys(client);
  } finally {
    await client.end();
  }
}
