import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gatewayConfigFile } from "../service/read-rate-limits.ts";

/**
 * Writes a kong.yml for GATEWAY_CONFIG with limits that nobody reaches.
 *
 * @returns the file
 */
export async function writeHighLimits(directory: string): Promise<string> {
  const file = path.join(directory, "kong.yml");
  const text = await readFile(gatewayConfigFile(), "utf8");
  await writeFile(file, text.replace(/\b(hour|day): \d+/g, "$1: 100000000"));
  return file;
}
