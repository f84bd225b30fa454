import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { NodeState } from "./follow-node.ts";

/** What the sync knows of the parts that it stands between. */
export interface SyncState {
  database: "connected" | "away";
  /** By admin address. */
  nodes: Record<string, NodeState>;
}

export type SyncMetrics = ReturnType<typeof createSyncMetrics>;

/** What Prometheus is told of the sync. */
export function createSyncMetrics(readState: () => SyncState) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const postgrestReady = new Gauge({
    name: "gateway_sync_postgrest_ready",
    help: "1 if PostgREST says that it is ready; absent where POSTGREST_READY_URL is not set.",
    registers,
  });
  // Not 0 before it is asked.
  postgrestReady.remove();
  return {
    registry,
    activeKeys: new Gauge({
      name: "gateway_sync_active_keys",
      help: "Keys that open the service now.",
      registers,
    }),
    databaseConnected: new Gauge({
      name: "gateway_sync_database_connected",
      help: "1 while changes of keys are heard of.",
      registers,
      collect() {
        this.set(readState().database === "connected" ? 1 : 0);
      },
    }),
    postgrestReady,
    lastSuccess: new Gauge({
      name: "gateway_sync_last_success_timestamp_seconds",
      help: "When the node was last seen to be as wanted. It is looked at every second.",
      labelNames: ["node"],
      registers,
    }),
    nodeIsCurrent: new Gauge({
      name: "gateway_sync_node_is_current",
      help: "1 if the node is as wanted, 0 if it is away, waiting or refuses an entity.",
      labelNames: ["node"],
      registers,
      collect() {
        for (const [node, state] of Object.entries(readState().nodes)) {
          this.set({ node }, state === "current" ? 1 : 0);
        }
      },
    }),
    lag: new Histogram({
      name: "gateway_sync_lag_seconds",
      help: "From hearing of a change of keys to its being written to the node.",
      labelNames: ["node"],
      buckets: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    }),
    failures: new Counter({
      name: "gateway_sync_failures_total",
      help: "Failures to read the keys, to reach a node, and entities that a node refused.",
      labelNames: ["source"],
      registers,
    }),
    foreign: new Gauge({
      name: "gateway_sync_foreign_entities",
      help: "Entities in Kong's database that the sync did not make, and never touches.",
      labelNames: ["node"],
      registers,
    }),
  };
}
