import type { FastifyBaseLogger } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export type PartStates = Record<string, "ok" | "unavailable">;

export const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The metrics of an app. Labels are route templates and parts, never parts of a request. The names are the same in the report
 * service and in the site's own process, so that alerts and dashboards cover both.
 */
export function createAppMetrics({
  countConnections,
  checkParts,
}: {
  countConnections: () => Record<"total" | "idle" | "waiting", number>;
  checkParts: () => Promise<PartStates>;
}) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "report_service_database_connections",
    help: 'Pool connections by state; "waiting" counts requests that wait for a connection.',
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(countConnections())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: "report_service_part_ready",
    help: "1 if this part (database or storage) is ready.",
    labelNames: ["part"],
    registers,
    async collect() {
      for (const [part, state] of Object.entries(await checkParts())) {
        this.set({ part }, state === "ok" ? 1 : 0);
      }
    },
  });
  return {
    registry,
    requests: new Counter({
      name: "report_service_requests_total",
      help: "Requests by route template and status.",
      labelNames: ["route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "report_service_request_duration_seconds",
      help: "Time from the first line of the request to the end of the response.",
      labelNames: ["route"],
      buckets: secondsBuckets,
      registers,
    }),
  };
}

/** Makes a function that checks each part. Simultaneous callers share one check. */
export function createReadinessCheck(
  checks: Record<string, () => Promise<void>>,
  logger: FastifyBaseLogger,
): () => Promise<PartStates> {
  let running: Promise<PartStates> | undefined;
  const checkAll = async () => {
    const states = Object.entries(checks).map(async ([name, check]) => {
      const noteFailure = (err: unknown) => logger.warn({ err }, `not ready: ${name}`);
      return [name, (await check().then(() => true, noteFailure)) ? "ok" : "unavailable"] as const;
    });
    return Object.fromEntries(await Promise.all(states));
  };
  return () => {
    running ??= checkAll().finally(() => {
      running = undefined;
    });
    return running;
  };
}
