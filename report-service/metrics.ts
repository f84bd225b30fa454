import { Counter, Histogram, type Registry } from "prom-client";
import { secondsBuckets } from "../shared/web/metrics.ts";
import type { Storage } from "./storage.ts";

export type ReportMetrics = ReturnType<typeof createReportMetrics>;

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

/** Adds the metrics of the report service. Labels are results, never parts of a request. */
export function createReportMetrics(registry: Registry) {
  const registers = [registry];
  // Every result starts at 0, so that the first of its kind shows as an increase.
  const countResults = <Result extends string>(name: string, help: string, results: readonly Result[]) => {
    const counter = new Counter<"result">({ name, help, labelNames: ["result"], registers });
    for (const result of results) counter.inc({ result }, 0);
    return (result: Result) => counter.inc({ result });
  };
  return {
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
    storageSeconds: new Histogram({
      name: "report_service_storage_duration_seconds",
      help: 'Storage response time by operation ("sign": find a file and sign its URL; "check": find the bucket or directory) and outcome (ok, missing or unavailable).',
      labelNames: ["operation", "outcome"],
      buckets: secondsBuckets,
      registers,
    }),
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
