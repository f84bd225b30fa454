import type { Logger } from "pino";
import { asJson, asMetrics, serveState } from "../../service/serve-state.ts";
import { checkStorage } from "./check-storage.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import type { RefreshMetrics, ScheduleState } from "./refresh-metrics.ts";

/**
 * Serves `/healthz` (the process runs; what it knows), `/readyz` (database and storage answer) and Prometheus'
 * `/metrics`.
 *
 * @throws Error that names a taken port and the variable that moves it
 */
export async function serveSchedule(
  { host, port, environment, source, publicData }: RefreshConfig,
  { state, metrics, logger }: { state: () => ScheduleState; metrics: RefreshMetrics; logger: Logger },
): Promise<{ url: string; close: () => Promise<void> }> {
  const describeState = () => {
    const { isDatabaseThere, isRunning, nextRun, publishedAt } = state();
    return {
      database: isDatabaseThere ? "ok" : "unavailable",
      environment,
      refreshing: isRunning,
      next_run: nextRun?.toISOString() ?? null,
      published_at: publishedAt?.toISOString() ?? null,
    };
  };
  return await serveState({
    host,
    port,
    portVariable: "REFRESH_PORT",
    answers: {
      "/healthz": async () => asJson(true, describeState()),
      "/readyz": async () => {
        // A directory of bulk files is made by the first refresh.
        const places = [source, publicData?.startsWith("s3://") ? publicData : undefined];
        const storage = await checkStorage(places, logger);
        return asJson(state().isDatabaseThere && storage === "ok", { ...describeState(), storage });
      },
      "/metrics": () => asMetrics(metrics.registry),
    },
  });
}
