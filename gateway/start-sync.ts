import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { SignJWT } from "jose";
import type { ClientConfig } from "pg";
import type { Logger } from "pino";
import { describeError } from "../service/describe-error.ts";
import { DocumentRefused } from "./admin-client.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { followKeys, type KeyFollower } from "./follow-keys.ts";
import { followNode, type NodeFollower } from "./follow-node.ts";
import { type RedisCounters, renderDocument, serializeDocument } from "./render-document.ts";
import { createSyncMetrics, type SyncMetrics, type SyncState } from "./sync-metrics.ts";

export interface SyncOptions {
  /** The database, as the role gateway_sync. */
  database: ClientConfig;
  /** Admin addresses of the gateway's nodes. */
  adminUrls: string[];
  postgrestUrl: string;
  /** PostgREST of the primary server, where `postgrestUrl` reads a replica. */
  postgrestCallsUrl?: string | undefined;
  /** What PostgREST verifies the gateway's token with. */
  jwtSecret: string;
  /** Where the nodes share their counters. */
  redis?: RedisCounters | undefined;
  /** A document like `gateway/kong.yml`, to render in its place. */
  template?: string | undefined;
  logger: Logger;
}

export interface Sync {
  /** Resolves when every node has the first configuration; rejects with the first failure on the way there. */
  firstDelivery: Promise<void>;
  state: () => SyncState;
  metrics: SyncMetrics;
  close: () => Promise<void>;
}

/** From here on a rendering's garbage is worth a collection of its own. */
const manyKeys = 5_000;
export const templateFile = new URL("kong.yml", import.meta.url);

/**
 * Keeps the gateway's nodes in step with the database: whenever keys, tiers or agreements change or a key expires,
 * it renders the configuration and gives it to each node. It outlives the database and the nodes: whatever is away
 * is tried again, and holds up nobody else.
 */
export async function startSync(options: SyncOptions): Promise<Sync> {
  const { logger, jwtSecret, redis, postgrestUrl, postgrestCallsUrl } = options;
  const upstreams = { postgrestUrl, postgrestCallsUrl };
  const template = options.template ?? (await readFile(templateFile, "utf8"));
  const gatewayToken = await signGatewayToken(jwtSecret);
  const secrets = [gatewayToken, jwtSecret, ...(redis?.password === undefined ? [] : [redis.password])];
  const metrics = createSyncMetrics(() => state());
  const { promise: firstDelivery, resolve: deliver, reject: failDelivery } = makePromise();
  // Who does not wait for it still has the log.
  firstDelivery.catch(() => {});

  // From 0 on, so that the first failure shows as an increase.
  for (const source of ["database", ...options.adminUrls]) metrics.failures.inc({ source }, 0);
  const nodes = followNodes(options, { secrets, metrics, deliver, failDelivery });
  const keys: KeyFollower = followKeys({
    database: options.database,
    logger,
    onKeys: (active, changedAt) => {
      const stopTimer = metrics.renderSeconds.startTimer();
      const bytes = serializeDocument(
        renderDocument(template, { ...upstreams, gatewayToken, redis }, active),
      );
      stopTimer();
      metrics.activeKeys.set(active.length);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      for (const node of nodes.values()) node.want({ bytes, sha256, changedAt });
      if (active.length >= manyKeys) setImmediate(collectGarbage);
    },
    onFailure: (cause) => {
      metrics.failures.inc({ source: "database" });
      logger.error({ err: cause }, "the configuration could not be renewed; it is tried again");
      failDelivery(
        new Error(`The gateway's configuration cannot be made: ${describeError(cause)}`, { cause }),
      );
    },
  });

  function state(): SyncState {
    return {
      database: keys.isConnected() ? "connected" : "away",
      nodes: Object.fromEntries([...nodes].map(([adminUrl, node]) => [adminUrl, node.state()])),
    };
  }
  return {
    firstDelivery,
    state,
    metrics,
    close: async () => {
      await keys.close();
      await Promise.all([...nodes.values()].map((node) => node.close()));
    },
  };
}

/** Follows every node, and delivers once each has taken a configuration. */
function followNodes(
  { adminUrls, logger }: SyncOptions,
  parts: {
    secrets: string[];
    metrics: SyncMetrics;
    deliver: () => void;
    failDelivery: (error: Error) => void;
  },
): Map<string, NodeFollower> {
  const { secrets, metrics } = parts;
  const nodes = new Map<string, NodeFollower>();
  const served = new Set<string>();
  for (const adminUrl of new Set(adminUrls)) {
    const follower = followNode({
      adminUrl,
      secrets,
      logger,
      onAccepted: (document, isNew) => {
        metrics.lastSuccess.set({ node: adminUrl }, Date.now() / 1000);
        if (isNew) metrics.lag.observe({ node: adminUrl }, (Date.now() - document.changedAt) / 1000);
        served.add(adminUrl);
        if (served.size === nodes.size) parts.deliver();
      },
      onFailure: (cause) => {
        metrics.failures.inc({ source: adminUrl });
        const what = cause instanceof DocumentRefused ? "refused the configuration" : "cannot be reached";
        parts.failDelivery(
          new Error(`The gateway on ${adminUrl} ${what}: ${describeError(cause)}`, { cause }),
        );
      },
    });
    nodes.set(adminUrl, follower);
  }
  return nodes;
}

/** The token that PostgREST knows the gateway by. It names a role that may do nothing but ask for authorization. */
export async function signGatewayToken(jwtSecret: string): Promise<string> {
  return await new SignJWT({ role: "gateway" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
}

function makePromise() {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
