import type { FastifyBaseLogger } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Storage } from "./storage.ts";

export type ReportMetrics = ReturnType<typeof createReportMetrics>;
type PartStates = Record<string, "ok" | "unavailable">;

const redemptionResults = [
  "redeemed",
  "refused",
  "file_missing",
  "client_gone",
  "switched_off",
  "no_data_set",
  "storage_unavailable",
  "database_unavailable",
  "failed",
] as const;
const publicReportResults = [
  "redirected",
  "not_found",
  "limited",
  "switched_off",
  "no_data_set",
  "unavailable",
] as const;
export type Redemption = (typeof redemptionResults)[number];

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of the report service. Labels are route templates and results, never parts of a request. */
export function createReportMetrics({
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
    help: "1 if this part (database or storage) is ready to redeem tokens.",
    labelNames: ["part"],
    registers,
    async collect() {
      for (const [part, state] of Object.entries(await checkParts())) {
        this.set({ part }, state === "ok" ? 1 : 0);
      }
    },
  });
  // Every result starts at 0, so that the first of its kind shows as an increase.
  const countResults = <Result extends string>(name: string, help: string, results: readonly Result[]) => {
    const counter = new Counter<"result">({ name, help, labelNames: ["result"], registers });
    for (const result of results) counter.inc({ result }, 0);
    return (result: Result) => counter.inc({ result });
  };
  const time = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Histogram<Label>({ name, help, labelNames, buckets, registers });
  return {
    registry,
    countRedemption: countResults(
      "report_service_redemptions_total",
      'Attempts to redeem tokens, by result; "refused" means malformed, unknown, used or expired.',
      redemptionResults,
    ),
    countPublicReport: countResults(
      "report_service_public_reports_total",
      "Requests for a public report's PDF, by result.",
      publicReportResults,
    ),
    requests: new Counter({
      name: "report_service_requests_total",
      help: "Requests by route template and status.",
      labelNames: ["route", "status"],
      registers,
    }),
    requestSeconds: time(
      "report_service_request_duration_seconds",
      "Time from the first line of the request to the end of the response.",
      ["route"],
    ),
    storageSeconds: time(
      "report_service_storage_duration_seconds",
      'Storage response time by operation ("sign": find a file and sign its URL; "check": find the bucket or directory) and outcome (ok, missing or unavailable).',
      ["operation", "outcome"],
    ),
  };
}

/** The same storage, with each call timed. */
export function measureStorage(storage: Storage, { storageSeconds }: ReportMetrics): Storage {
  const time = async <Result>(operation: string, answer: Promise<Result>): Promise<Result> => {
    const stop = storageSeconds.startTimer({ operation });
    try {
      const result = await answer;
      stop({ outcome: result === null ? "missing" : "ok" });
      return result;
    } catch (error) {
      stop({ outcome: "unavailable" });
      throw error;
    }
  };
  return {
    ...storage,
    signDownload: (reportId) => time("sign", storage.signDownload(reportId)),
    check: () => time("check", storage.check()),
  };
}

/** Makes a function that checks each part needed to redeem a token. Simultaneous callers share one check. */
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
