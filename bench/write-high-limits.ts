import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gatewayConfigFile } from "../service/read-rate-limits.ts";

/** A limit for each address (gateway/kong.env) that no client reaches. */
export const unlimitedAddresses = {
  KONG_NGINX_HTTP_LIMIT_REQ_ZONE: "$binary_remote_addr zone=addresses:10m rate=1000000r/s",
};

/**
 * Writes a kong.yml for GATEWAY_CONFIG with rate limits that no client reaches.
 *
 * @returns the path of the file
 */
export async function writeHighLimits(directory: string): Promise<string> {
  const file = path.join(directory, "kong.yml");
  const text = await readFile(gatewayConfigFile(), "utf8");
  await writeFile(file, text.replace(/\b(hour|day): \d+/g, "$1: 100000000"));
  return file;
}
