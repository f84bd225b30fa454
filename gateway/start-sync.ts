import { readFile } from "node:fs/promises";
import type { ClientConfig } from "pg";
import type { Logger } from "pino";
import { describeError } from "../service/describe-error.ts";
import { createActiveKeys } from "./active-keys.ts";
import { EntityRefused } from "./admin-client.ts";
import type { Wanted } from "./compare-node.ts";
import { followKeys, type KeyFollower } from "./follow-keys.ts";
import { followNode, type NodeFollower } from "./follow-node.ts";
import { type RedisCounters, renderBase } from "./render-entities.ts";
import { createSyncMetrics, type SyncMetrics, type SyncState } from "./sync-metrics.ts";

export interface SyncOptions {
  /** The database, as the role gateway_sync. */
  database: ClientConfig;
  /** Admin addresses. One is enough for all nodes that share a database. */
  adminUrls: string[];
  /** For an Admin API that asks for one, as the embedded gateway's. */
  adminToken?: string | undefined;
  postgrestUrl: string;
  /** PostgREST of the primary server, where `postgrestUrl` reads a replica. */
  postgrestCallsUrl?: string | undefined;
  /** Where the nodes share their counters. */
  redis?: RedisCounters | undefined;
  /** A document like `gateway/kong.yml`, in its place. */
  template?: string | undefined;
  logger: Logger;
}

export interface Sync {
  /** Resolves when every node has all that is wanted; rejects with the first failure on the way there. */
  firstDelivery: Promise<void>;
  state: () => SyncState;
  metrics: SyncMetrics;
  close: () => Promise<void>;
}

export const templateFile = new URL("kong.yml", import.meta.url);

/**
 * Keeps Kong's database in step with this service's: services, routes and plugins as in `gateway/kong.yml`, and a
 * consumer with a credential for each active key. It outlives the database and the nodes: whatever is away is tried
 * again, and holds up nobody else. Several may run at once, and each may be killed at any moment.
 *
 * @throws Error when the template cannot be rendered
 */
export async function startSync(options: SyncOptions): Promise<Sync> {
  const { logger } = options;
  const template = options.template ?? (await readFile(templateFile, "utf8"));
  const keys = createActiveKeys();
  const metrics = createSyncMetrics(() => state());
  const { promise: firstDelivery, resolve: deliver, reject: failDelivery } = makePromise();
  // Who does not wait for it still has the log.
  firstDelivery.catch(() => {});
  let shared = keys.sharedLimits();
  let base = renderBase({ ...options, template }, shared);
  let wanted: Wanted | undefined;

  // From 0 on, so that the first failure shows as an increase.
  for (const source of ["database", ...options.adminUrls]) metrics.failures.inc({ source }, 0);
  const nodes = followNodes(options, { readWanted: () => wanted, metrics, deliver, failDelivery });
  const follower: KeyFollower = followKeys({
    database: options.database,
    keys,
    logger,
    onKeys: (changes, changedAt) => {
      metrics.activeKeys.set(keys.all.size);
      const isFirst = wanted === undefined;
      const hasOtherLimits = keys.sharedLimits() !== shared;
      if (hasOtherLimits) {
        shared = keys.sharedLimits();
        base = renderBase({ ...options, template }, shared);
      }
      wanted = { base, keys: keys.all };
      for (const node of nodes.values()) {
        if (isFirst || hasOtherLimits) node.compare();
        if (!isFirst && changes.length > 0) node.change(changes, changedAt);
      }
    },
    onFailure: (cause) => {
      metrics.failures.inc({ source: "database" });
      logger.error({ err: cause }, "the keys could not be read; it is tried again");
      failDelivery(new Error(`The keys cannot be read: ${describeError(cause)}`, { cause }));
    },
  });

  function state(): SyncState {
    return {
      database: follower.isConnected() ? "connected" : "away",
      nodes: Object.fromEntries([...nodes].map(([adminUrl, node]) => [adminUrl, node.state()])),
    };
  }
  return {
    firstDelivery,
    state,
    metrics,
    close: async () => {
      await follower.close();
      await Promise.all([...nodes.values()].map((node) => node.close()));
    },
  };
}

/** Follows every node, and delivers once each is as wanted. */
function followNodes(
  { adminUrls, adminToken, logger }: SyncOptions,
  parts: {
    readWanted: () => Wanted | undefined;
    metrics: SyncMetrics;
    deliver: () => void;
    failDelivery: (error: Error) => void;
  },
): Map<string, NodeFollower> {
  const { metrics, readWanted } = parts;
  const nodes = new Map<string, NodeFollower>();
  const served = new Set<string>();
  for (const node of new Set(adminUrls)) {
    const follower = followNode({
      adminUrl: node,
      adminToken,
      readWanted,
      logger,
      onApplied: (changedAt) => metrics.lag.observe({ node }, (Date.now() - changedAt) / 1000),
      onCurrent: () => {
        metrics.lastSuccess.set({ node }, Date.now() / 1000);
        served.add(node);
        if (served.size === nodes.size) parts.deliver();
      },
      onForeign: (count) => metrics.foreign.set({ node }, count),
      onFailure: (cause) => {
        metrics.failures.inc({ source: node });
        const what = cause instanceof EntityRefused ? "refused" : "cannot be reached";
        parts.failDelivery(new Error(`The gateway on ${node} ${what}: ${describeError(cause)}`, { cause }));
      },
    });
    nodes.set(node, follower);
  }
  return nodes;
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
