import { readFile } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startEmbeddedGateway } from "../../gateway/embedded/start-embedded-gateway.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { readRefreshConfig } from "../../scripts/refresh/refresh-config.ts";
import { startSchedule } from "../../scripts/refresh/start-schedule.ts";
import { send, target } from "../support/target.ts";

const keywords = /^(and|or|unless|by|without|on|ignoring|group_left|group_right|bool|offset)$/;

/** Finds the metrics of a PromQL expression, with the labels of their matchers. Ignores functions and keywords. */
function findSelectors(expression: string): { metric: string; labels: string[] }[] {
  const bare = expression
    // Grouping and matching clauses list labels, not metrics.
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ");
  const names = /\b([a-zA-Z_:][\w:]*)\b(?:\s*(\()|\s*\{((?:[^"}]|"[^"]*")*)\})?/g;
  return [...bare.matchAll(names)]
    .filter(([, metric = "", next]) => next !== "(" && !keywords.test(metric))
    .map(([, metric = "", , matchers = ""]) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*[!=]~?=?\s*"[^"]*"/g)].map(([, label = ""]) => label),
    }));
}

const project = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFile(path.join(project, file), "utf8");

/** Metrics of Prometheus, exporters, CloudNativePG, and Kong with Redis that rules and dashboard may use. */
const foreign = new Set([
  "up",
  ...["node_filesystem_avail_bytes", "node_filesystem_size_bytes"],
  ...["kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes"],
  ...["node_timex_offset_seconds", "node_timex_sync_status"],
  ...["pg_stat_activity_count", "pg_settings_max_connections", "pg_replication_lag_seconds"],
  ...["cnpg_collector_up", "cnpg_backends_total", "cnpg_pg_settings_setting"],
  ...["in_recovery", "lag", "is_wal_receiver_up"].map((name) => `cnpg_pg_replication_${name}`),
  ...["cnpg_pg_stat_archiver_last_failed_time", "cnpg_pg_stat_archiver_last_archived_time"],
  "probe_ssl_earliest_cert_expiry",
  "kong_counters_memory_ratio",
]);

const logger = pino({ level: "silent" });
const typeLine = /^# TYPE (\S+) (\w+)$/gm;
const stops: (() => Promise<unknown>)[] = [];
/** The services' responses at /metrics. */
const outputs: string[] = [];
/** The labels of each metric's samples; empty if it has no samples yet. */
const known = new Map<string, Set<string>>();

beforeAll(async () => {
  const loopback = { host: "127.0.0.1", port: 0 };
  const reportService = await startReportService({
    ...loopback,
    metrics: loopback,
    database: { connectionString: target.databaseUrl },
    storage: { kind: "local", directory: "/nowhere" },
    logger,
  });
  stops.push(reportService.close);
  await send(reportService.url, "/dissemination/report/pdf/ota/none");

  const gateway = await startEmbeddedGateway({
    ...loopback,
    metricsPort: 0,
    config: await read("gateway/kong.yml"),
    env: { POSTGREST_URL: target.postgrestUrl, GATEWAY_TOKEN: "none" },
    logger,
  });
  stops.push(gateway.close);
  await send(gateway.url, "/general");

  const refresher = await startSchedule(
    readRefreshConfig({ DATABASE_URL: target.databaseUrl, ENVIRONMENT: "development", REFRESH_PORT: "0" }),
    logger,
  );
  stops.push(refresher.close);

  const ofGateway = `${gateway.metricsUrl}/metrics`;
  for (const url of [reportService.metricsUrl ?? "", ofGateway, `${refresher.url}/metrics`]) {
    const response = await fetch(url);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    outputs.push(text);
    for (const [, name = "", type] of text.matchAll(typeLine)) {
      const names = type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
      for (const each of names) {
        const samples = text.matchAll(new RegExp(`^${each}(?:\\{(.*)\\})? `, "gm"));
        const labels = [...samples].flatMap(([, inside = ""]) => inside.match(/\w+(?==")/g) ?? []);
        known.set(each, new Set([...labels, ...(known.get(each) ?? [])]));
      }
    }
  }
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

function findUnknown(expression: string): string[] {
  return findSelectors(expression).flatMap(({ metric, labels }) => {
    if (foreign.has(metric)) return [];
    const its = known.get(metric);
    if (its === undefined) return [metric];
    const strange = labels.filter((label) => label !== "job" && its.size > 0 && !its.has(label));
    return strange.map((label) => `${metric}{${label}}`);
  });
}

describe("/metrics", () => {
  it("names routes and results, and never a token or report ID from a request", () => {
    const all = outputs.join("");
    expect(all).toContain('route="/dissemination/report/pdf/ota/:token",status="404"');
    expect(all).toContain('report_service_redemptions_total{result="refused"} 1');
    expect(all).toContain(
      'kong_http_requests_total{service="postgrest",route="postgrest",code="401",source="exit"} 1',
    );
    expect(all).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|ota\/none|GSAFAC/);
  });

  it("is not served on the public port of the report service", async () => {
    expect((await send(target.appUrl, "/metrics")).status).toBe(404);
  });
});

describe("deploy/monitoring/prometheus-rules.yml", async () => {
  const { groups } = parse(await read("deploy/monitoring/prometheus-rules.yml"));
  const alerts: { alert: string; expr: string }[] = groups.flatMap(({ rules }: { rules: object[] }) => rules);
  const operations = await read("docs/operations.md");
  const text = expect.stringMatching(/./);

  it.each(alerts)("$alert uses metrics that exist, and has a runbook", (rule) => {
    expect(findSelectors(rule.expr).length).toBeGreaterThan(0);
    expect(findUnknown(rule.expr)).toEqual([]);
    expect(rule).toMatchObject({
      for: expect.stringMatching(/^\d+[mh]$/),
      labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
      annotations: {
        ...{ summary: text, description: text },
        runbook_url: `docs/operations.md#${rule.alert.toLowerCase()}`,
      },
    });
  });

  it("has one alert for each runbook, and one runbook for each alert", () => {
    const headings = [...operations.matchAll(/^### ([A-Z]\w+)$/gm)].map(([, name]) => name);
    expect(headings.sort()).toEqual(alerts.map(({ alert: name }) => name).sort());
  });
});

describe("deploy/monitoring/prometheus.yml", async () => {
  const config = parse(await read("deploy/monitoring/prometheus.yml"));
  const { services } = parse(await read("docker-compose.yml"), { merge: true, logLevel: "error" });
  const scraped: { job_name: string; static_configs: { targets: string[] }[] }[] = config.scrape_configs;

  it.each([
    ["report-service", "APP_METRICS_PORT"],
    ["postgrest", "PGRST_ADMIN_SERVER_PORT"],
    ["refresher", "REFRESH_PORT"],
    ["gateway", "KONG_STATUS_LISTEN"],
  ])("scrapes %s on the port in its %s, which docker-compose.yml does not publish", (name, variable) => {
    const { environment, ports = [] } = services[name];
    const port = String(environment[variable]).replace("0.0.0.0:", "");
    expect(config.rule_files).toEqual(["prometheus-rules.yml"]);
    const [job] = scraped.filter(({ job_name }) => job_name === name);
    expect(job?.static_configs).toEqual([{ targets: [`${name}:${port}`] }]);
    expect(ports.filter((published: string) => published.endsWith(`:${port}`))).toEqual([]);
  });
});

describe("deploy/monitoring/grafana-dashboard.json", async () => {
  const dashboard = JSON.parse(await read("deploy/monitoring/grafana-dashboard.json"));
  const panels: { type: string; title: string; targets?: { expr: string; datasource: object }[] }[] =
    dashboard.panels;

  it("can be imported into any Grafana: it has no ID of its own, and its data source is a variable", () => {
    expect(dashboard).not.toHaveProperty("id");
    expect(dashboard.templating.list).toMatchObject([
      { name: "datasource", type: "datasource", query: "prometheus" },
    ]);
  });

  it.each(panels.filter(({ type }) => type !== "row"))(
    "$title uses metrics that exist",
    ({ targets = [] }) => {
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr, datasource } of targets) {
        expect(findUnknown(expr)).toEqual([]);
        expect(datasource).toEqual({ type: "prometheus", uid: "$" + "{datasource}" });
      }
    },
  );
});
