import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Secrets } from "../../scripts/stack/secrets.ts";
import { signGatewayToken } from "../../scripts/stack/sign-gateway-token.ts";
import { connect } from "../../service/connect.ts";
import { followLogs } from "./follow-logs.ts";
import { issueKeys, type KeyRing } from "./key-ring.ts";
import { createLeakWatch } from "./leak-watch.ts";
import { type OwnStack, startOwnStack } from "./own-stack.ts";
import type { Target } from "./part.ts";

export interface OpenedTarget {
  target: Target;
  /** For the table. */
  description: string;
  close: () => Promise<void>;
}

/** 1,000 requests an hour each: enough for all parts. */
const enoughKeys = { individual: 40, tribal: 20 };

export interface OpenOptions {
  /** Is told of what takes long. */
  report: (line: string) => void;
  keyCounts?: typeof enoughKeys;
  /** Of a one-machine stack that BASE_URL names, whose logs are to be read. */
  stackDirectory?: string;
}

/**
 * Opens the deployment that BASE_URL names, or starts a stack of its own.
 *
 * @throws Error that names the variable that is missing
 */
export async function openTarget(
  environment: NodeJS.ProcessEnv,
  { report, keyCounts = enoughKeys, stackDirectory }: OpenOptions,
): Promise<OpenedTarget> {
  const closes: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of closes.splice(0).reverse()) await step();
  };
  try {
    const isOwn = !environment.BASE_URL;
    if (isOwn) report("Starting a stack ...");
    const own = isOwn ? await startOwnStack() : undefined;
    if (own !== undefined) closes.push(own.dispose);
    const addresses = own === undefined ? readAddresses(environment) : describeOwn(own);
    const client = await connect(addresses.databaseUrl, "torture");
    closes.push(() => client.end());
    const leaks = await createLeakWatch(client);
    const logged = own?.directory ?? stackDirectory;
    const logs = logged === undefined ? undefined : followLogs(logged, leaks);
    if (logs !== undefined) closes.push(logs.stop);
    if (logged !== undefined)
      for (const secret of await readSecrets(logged, environment)) leaks.addSecret(secret);
    const keys = await issueKeys(client, keyCounts);
    if (own === undefined) closes.push(() => revokeKeys(keys, addresses.databaseUrl));
    for (const key of keys.all) leaks.addSecret(key);
    const gateway = environment.GATEWAY === "kong" ? "Kong" : "embedded gateway";
    return {
      target: { ...addresses, keys, leaks, own, logs, project: environment.TORTURE_PROJECT },
      description:
        own === undefined
          ? (environment.TORTURE_PROJECT ?? new URL(addresses.baseUrl).host)
          : `one-machine stack, ${gateway}`,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function revokeKeys(keys: KeyRing, databaseUrl: string): Promise<void> {
  const client = await connect(databaseUrl, "torture");
  try {
    await keys.revoke(client);
  } finally {
    await client.end();
  }
}

type Addresses = Pick<Target, "baseUrl" | "appUrls" | "databaseUrl">;

function describeOwn({ facts, secondAppUrl }: OwnStack): Addresses {
  return {
    baseUrl: facts.base_url,
    appUrls: [facts.app_url, secondAppUrl],
    databaseUrl: facts.database_url,
  };
}

function readAddresses(environment: NodeJS.ProcessEnv): Addresses {
  const read = (name: string) => {
    const value = environment[name];
    if (!value) throw new Error(`${name} is not set. Set it together with BASE_URL, or leave all unset.`);
    return value.replace(/\/+$/, "");
  };
  return { baseUrl: read("BASE_URL"), appUrls: [read("APP_URL")], databaseUrl: read("DATABASE_URL") };
}

/** The passwords and keys of a one-machine stack, and the token that PostgREST believes. */
async function readSecrets(directory: string, { REDIS_PASSWORD }: NodeJS.ProcessEnv): Promise<string[]> {
  const text = await readFile(path.join(directory, "secrets.json"), "utf8");
  const { rolePasswords, sampleKeys, ...others }: Secrets = JSON.parse(text);
  const secrets = Object.values({ ...others, ...rolePasswords, ...sampleKeys });
  const redis = REDIS_PASSWORD === undefined ? [] : [REDIS_PASSWORD];
  return [...secrets, ...redis, await signGatewayToken(others.jwtSecret)];
}
