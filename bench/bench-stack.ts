import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import path from "node:path";
import { Client } from "pg";
import type { Secrets } from "../scripts/stack/secrets.ts";
import { signGatewayToken } from "../scripts/stack/sign-gateway-token.ts";
import { gatewayConfigFile } from "../shared/read-rate-limits.ts";
import { type RunningStack, runStack } from "../test/support/run-stack.ts";
import { unlimitedAddresses } from "../test/support/start-kong.ts";

export interface BenchStack extends RunningStack {
  client: Client;
  secrets: Secrets;
  /** The gateway's headers for PostgREST: its token, and the hash of an individual key. */
  gatewayHeaders: Record<string, string>;
}

/** Reads gateway/kong.yml, with rate limits that a benchmark does not reach. */
export const readUnlimitedConfig = async () =>
  (await readFile(gatewayConfigFile(), "utf8")).replace(/\b(hour|day): \d+/g, "$1: 100000000");

/** Starts a stack in a new directory under `parent`, with limits that a benchmark does not reach. */
export async function startBenchStack(parent: string): Promise<BenchStack> {
  const config = path.join(parent, "kong.yml");
  await writeFile(config, await readUnlimitedConfig());
  const stack = await runStack({
    directory: path.join(parent, "stack"),
    env: {
      ...process.env,
      ...unlimitedAddresses,
      GATEWAY_CONFIG: config,
      // By default all of the machine's memory in megabytes, as on a server for PostgreSQL alone.
      DATABASE_MEMORY: process.env.DATABASE_MEMORY || String(Math.round(totalmem() / 2 ** 20)),
    },
  });
  const { facts, directory } = stack;
  const secrets: Secrets = JSON.parse(await readFile(path.join(directory, "secrets.json"), "utf8"));
  const client = new Client({ connectionString: facts.database_url });
  await client.connect();
  await client.query(
    "alter table access.tiers drop constraint tiers_leave_connections_to_others; " +
      "update access.tiers set requests_at_a_time = 8",
  );
  return {
    ...stack,
    client,
    secrets,
    gatewayHeaders: {
      authorization: `Bearer ${await signGatewayToken(secrets.jwtSecret)}`,
      "x-api-key-sha256": createHash("sha256").update(facts.keys.individual).digest("hex"),
    },
    dispose: async () => {
      await client.end();
      await stack.dispose();
    },
  };
}
