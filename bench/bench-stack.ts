import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import path from "node:path";
import { Client } from "pg";
import type { Secrets } from "../scripts/stack/secrets.ts";
import { signGatewayToken } from "../scripts/stack/sign-gateway-token.ts";
import type { StackFacts } from "../scripts/stack/start-stack.ts";
import { gatewayConfigFile } from "../shared/read-rate-limits.ts";
import { runStack } from "../test/support/run-stack.ts";
import { unlimitedAddresses } from "../test/support/start-kong.ts";

export interface BenchStack {
  facts: StackFacts;
  directory: string;
  client: Client;
  secrets: Secrets;
  /** The gateway's token for PostgREST. */
  gatewayToken: string;
  /** Individual keys. A key may have two requests in progress, so each connection sends its own. */
  keys: string[];
  dispose: () => Promise<void>;
}

const keyCount = 64;

/** Reads gateway/kong.yml, with rate limits that a benchmark does not reach. */
export const readUnlimitedConfig = async () =>
  (await readFile(gatewayConfigFile(), "utf8")).replace(/\b(hour|day): \d+/g, "$1: 100000000");

/** The headers that the gateway sends to PostgREST. */
export const describeKey = ({ gatewayToken }: BenchStack, key: string) => ({
  authorization: `Bearer ${gatewayToken}`,
  "x-api-key-sha256": createHash("sha256").update(key).digest("hex"),
});

/**
 * Starts a stack in a new directory under `parent`, or uses the one that runs in `running`.
 *
 * @param source CSV files to publish
 */
export async function openBenchStack(
  parent: string,
  { running, source }: { running?: string | undefined; source?: string | undefined },
): Promise<BenchStack> {
  const stack = running === undefined ? await startStack(parent, source) : undefined;
  const directory = running ?? path.join(parent, "stack");
  const read = async (name: string) => JSON.parse(await readFile(path.join(directory, name), "utf8"));
  const [facts, secrets]: [StackFacts, Secrets] = [await read("stack.json"), await read("secrets.json")];
  const client = new Client({ connectionString: facts.database_url, application_name: "bench" });
  await client.connect();
  await client.query("select set_config('access.operator', 'npm run bench', false)");
  const { rows } = await client.query<{ id: string; key: string }>(
    `select issued.api_key_id as id, issued.api_key as key
     from generate_series(1, $1::integer) as number,
       lateral access.issue_key('individual', 'bench@example.gov', 'npm run bench, ' || number) as issued`,
    [keyCount],
  );
  return {
    facts,
    directory,
    client,
    secrets,
    gatewayToken: await signGatewayToken(secrets.jwtSecret),
    keys: rows.map(({ key }) => key),
    dispose: async () => {
      for (const { id } of rows) await client.query("select access.revoke_key($1)", [id]);
      await client.end();
      await stack?.dispose();
    },
  };
}

async function startStack(parent: string, source: string | undefined) {
  const config = path.join(parent, "kong.yml");
  await writeFile(config, await readUnlimitedConfig());
  return await runStack({
    directory: path.join(parent, "stack"),
    args: source === undefined ? [] : ["--data", source],
    env: {
      ...process.env,
      ...unlimitedAddresses,
      GATEWAY_CONFIG: config,
      // By default all of the machine's memory in megabytes, as on a server for PostgreSQL alone.
      DATABASE_MEMORY: process.env.DATABASE_MEMORY || String(Math.round(totalmem() / 2 ** 20)),
    },
  });
}
