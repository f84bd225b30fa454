import { Client, type ClientConfig } from "pg";
import type { ActiveKey } from "./render-document.ts";

/** The query of the keys that are active now. */
export const selectActiveKeys = `
  select id, tier, key_sha256, requests_per_hour, requests_per_day, limited_by
  from access.active_keys
  order by id`;

/** Reads the active keys once, as the role gateway_sync. */
export async function readActiveKeys(database: ClientConfig): Promise<ActiveKey[]> {
  const client = new Client({
    ...database,
    connectionTimeoutMillis: 5_000,
    application_name: "gateway-render",
  });
  await client.connect();
  try {
    return (await client.query<ActiveKey>(selectActiveKeys)).rows;
  } finally {
    await client.end();
  }
}
