import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Storage } from "./storage.ts";

export type ReportMetrics = ReturnType<typeof createReportMetrics>;

/** What comes of attempts to redeem a token. `refused`: it is malformed, unknown, spent or expired. */
const redemptionResults = [
  "redeemed",
  "refused",
  "file_missing",
  "client_gone",
  "storage_unavailable",
  "database_unavailable",
  "failed",
] as const;
/** What comes of a request for a public report's PDF. */
const publicReportResults = ["redirected", "not_found", "limited", "unavailable"] as const;
export type PublicReport = (typeof publicReportResults)[number];
export type Redemption = (typeof redemptionResults)[number];

/** What the gauges ask when they are read. */
export interface MetricSources {
  countConnections: () => { total: number; idle: number; waiting: number };
  /** By what is needed to redeem a token: whether it answers. */
  checkParts: () => Promise<Record<string, string>>;
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What Prometheus is told of the report service. Labels are route templates and outcomes, never what a request names. */
export function createReportMetrics({ countConnections, checkParts }: MetricSources) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "report_service_database_connections",
    help: "Connections of the pool by state; waiting: requests that wait for one.",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(countConnections())) this.set({ state }, count);
    },
  });
  new Gauge({
    name: "report_service_part_ready",
    help: "1 if the database or the storage would do its part of redeeming a token now.",
    labelNames: ["part"],
    registers,
    async collect() {
      for (const [part, state] of Object.entries(await checkParts())) {
        this.set({ part }, state === "ok" ? 1 : 0);
      }
    },
  });
  const redemptions = new Counter<"result">({
    name: "report_service_redemptions_total",
    help: `Attempts to redeem a token by result: ${redemptionResults.join(", ")}. refused: malformed, unknown, spent or expired.`,
    labelNames: ["result"],
    registers,
  });
  // From 0 on, so that the first of a kind shows as an increase.
  for (const result of redemptionResults) redemptions.inc({ result }, 0);
  const publicReports = new Counter<"result">({
    name: "report_service_public_reports_total",
    help: `Requests for a public report's PDF by result: ${publicReportResults.join(", ")}.`,
    labelNames: ["result"],
    registers,
  });
  for (const result of publicReportResults) publicReports.inc({ result }, 0);
  return {
    registry,
    publicReports,
    requests: new Counter({
      name: "report_service_requests_total",
      help: "Requests by route template and status.",
      labelNames: ["route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "report_service_request_duration_seconds",
      help: "From the request's first line to the end of its answer.",
      labelNames: ["route"],
      buckets: seconds,
      registers,
    }),
    redemptions,
    storageSeconds: new Histogram({
      name: "report_service_storage_duration_seconds",
      help: "What storage took to say whether a file, or the bucket, is there: operation sign or check; outcome ok, missing or unavailable.",
      labelNames: ["operation", "outcome"],
      buckets: seconds,
      registers,
    }),
  };
}

/** The same storage, with each call timed. */
export function measureStorage(
  storage: Storage,
  { storageSeconds }: Pick<ReportMetrics, "storageSeconds">,
): Storage {
  async function time<Result>(
    operation: string,
    ask: () => Promise<Result>,
    describe: (result: Result) => string,
  ): Promise<Result> {
    const stop = storageSeconds.startTimer({ operation });
    try {
      const result = await ask();
      stop({ outcome: describe(result) });
      return result;
    } catch (error) {
      stop({ outcome: "unavailable" });
      throw error;
    }
  }
  return {
    signDownload: (reportId, options) =>
      time(
        "sign",
        () => storage.signDownload(reportId, options),
        (address) => (address === null ? "missing" : "ok"),
      ),
    check: () =>
      time(
        "check",
        () => storage.check(),
        () => "ok",
      ),
    close: () => storage.close(),
  };
}
