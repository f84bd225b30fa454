import { asJson, asMetrics, serveState } from "../service/serve-state.ts";
import type { Sync } from "./start-sync.ts";

export interface SyncServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** PostgREST's own readiness check, where nobody else can ask it: its image holds no program to ask with. */
  postgrestReadyUrl?: string | undefined;
}

const checkMilliseconds = 2_000;

/**
 * Serves `/healthz` (the process runs; what it knows of the others), `/readyz` (the database is there, every node is
 * as wanted, and PostgREST is ready where it is asked) and Prometheus' `/metrics`.
 *
 * @throws Error that names a taken port and the variable that moves it
 */
export async function serveSyncState(
  sync: Sync,
  { host, port, postgrestReadyUrl }: SyncServerOptions,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { metrics } = sync;
  const askAboutPostgrest = async () => {
    const postgrest = await askPostgrest(postgrestReadyUrl);
    if (postgrest !== undefined) metrics.postgrestReady.set(postgrest === "ready" ? 1 : 0);
    return postgrest;
  };
  return await serveState({
    host,
    port,
    portVariable: "GATEWAY_SYNC_PORT",
    answers: {
      "/healthz": async () => asJson(true, sync.state()),
      "/readyz": async () => {
        const { database, nodes } = sync.state();
        const postgrest = await askAboutPostgrest();
        const isReady =
          database === "connected" &&
          Object.values(nodes).every((state) => state === "current") &&
          postgrest !== "away";
        return asJson(isReady, { database, nodes, ...(postgrest === undefined ? {} : { postgrest }) });
      },
      "/metrics": async () => {
        await askAboutPostgrest();
        return await asMetrics(metrics.registry);
      },
    },
  });
}

async function askPostgrest(url: string | undefined): Promise<"ready" | "away" | undefined> {
  if (url === undefined) return undefined;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(checkMilliseconds) });
    await response.body?.cancel();
    return response.ok ? "ready" : "away";
  } catch {
    return "away";
  }
}
