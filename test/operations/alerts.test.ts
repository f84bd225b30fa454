import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { project, readProjectFile } from "../compose/read-compose.ts";
import { makeDirectory } from "../support/make-directory.ts";

const rules = "deploy/monitoring/prometheus-rules.yml";
const duration: Map<string, number> = new Map(
  parse(readProjectFile(rules)).groups.flatMap((group: { rules: { alert: string; for: string }[] }) =>
    group.rules.map((rule) => [rule.alert, minutes(rule.for)]),
  ),
);

function minutes(text: string): number {
  return Number.parseInt(text, 10) * (text.endsWith("h") ? 60 : 1);
}

const grows = (step: number) => `0+${step}x600`;
const stays = (value: number) => `${value}+0x600`;
const buckets = (name: string, labels: string, fast: string, slow: string) => ({
  [`${name}{${labels}le="${fast}"}`]: stays(0),
  [`${name}{${labels}le="${slow}"}`]: grows(60),
  [`${name}{${labels}le="+Inf"}`]: grows(60),
});
const requests = (job: string, labels: string, bad: number) => ({
  [`${job}_requests_total{${labels}="200"}`]: grows(100 - bad),
  [`${job}_requests_total{${labels}="${bad === 50 ? 429 : 500}"}`]: grows(bad),
});
const instance = (name: string) => `{job="postgres",instance="${name}"}`;
const cluster = (recovery: number[], values = "0x600") =>
  Object.fromEntries(
    recovery.flatMap((value, index) => [
      [`cnpg_collector_up${instance(`i${index}`)}`, `1+${values}`],
      [`cnpg_pg_replication_in_recovery${instance(`i${index}`)}`, `${value}+${values}`],
      [`cnpg_pg_replication_is_wal_receiver_up${instance(`i${index}`)}`, `${value}+${values}`],
    ]),
  );

/** What fires each alert, and how many minutes pass before its condition is true. */
const faults: [alert: string, series: Record<string, string>, delay?: number][] = [
  ...["postgrest", "report-service", "site", "refresher"].map((job): [string, Record<string, string>] => [
    "ServiceDown",
    { [`up{job="${job}"}`]: stays(0) },
  ]),
  ["ServerErrors", requests("kong_http", "code", 2), 1],
  ["ResponsesSlow", buckets("kong_request_latency_ms_bucket", 'route="postgrest",', "5000", "10000"), 1],
  ["RateLimited", requests("kong_http", "code", 50), 1],
  ["GatewayDown", { 'up{job="gateway"}': stays(0) }],
  ["NoDataSet", { refresh_data_set_published: stays(0) }],
  [
    "DataSetTooOld",
    {
      refresh_data_set_age_seconds: stays(1200),
      refresh_data_set_age_limit_seconds: stays(600),
      refresh_last_success_timestamp_seconds: stays(0),
    },
    10,
  ],
  ["RefreshFailing", { 'refresh_runs_total{outcome="failed"}': grows(1) }, 1],
  ["RefreshStuck", { refresh_running: stays(1) }],
  ["LeakFound", { refresh_leaks: stays(1) }],
  ["LeakCheckFailing", { refresh_leaks_checked_timestamp_seconds: stays(0) }, 181],
  ["LedgerNotCompared", { refresh_ledger_compared: stays(0) }],
  ["LedgerBehind", { refresh_ledger_waiting_seconds: grows(60) }, 11],
  ["RefresherDatabaseUnavailable", { refresh_database_connected: stays(0) }],
  ["StorageUnavailable", { 'report_service_part_ready{part="storage"}': stays(0) }],
  ["ReportServiceDatabaseUnavailable", { 'report_service_part_ready{part="database"}': stays(0) }],
  ["StorageSlow", buckets("report_service_storage_duration_seconds_bucket", "", "1", "2.5"), 1],
  ...["storage_unavailable", "database_unavailable", "failed"].map(
    (result): [string, Record<string, string>, number] => [
      "RedemptionsFailing",
      { [`report_service_redemptions_total{result="${result}"}`]: grows(1) },
      1,
    ],
  ),
  ["ReportFileMissing", { 'report_service_redemptions_total{result="file_missing"}': grows(1) }, 1],
  ["TokensGuessed", { 'report_service_redemptions_total{result="refused"}': grows(1200) }, 1],
  ["ReportServiceErrors", requests("report_service", 'route="/public-data/",status', 10), 1],
  ["PrimaryMissing", cluster([1, 1, 1])],
  ["PrimaryMissing", cluster([0, 1, 1], "0x10 stale"), 11],
  ["InstanceMissing", cluster([0, 1])],
  [
    "ArchiveFailing",
    { cnpg_pg_stat_archiver_last_failed_time: stays(2), cnpg_pg_stat_archiver_last_archived_time: stays(1) },
  ],
  [
    "DatabaseConnectionsNearLimit",
    {
      'pg_stat_activity_count{instance="a"}': stays(81),
      'pg_settings_max_connections{instance="a"}': stays(100),
    },
  ],
  [
    "DatabaseConnectionsNearLimit",
    {
      'cnpg_backends_total{instance="a",state="idle"}': stays(81),
      'cnpg_pg_settings_setting{instance="a",name="max_connections"}': stays(100),
    },
  ],
  ["ReplicaLagging", { pg_replication_lag_seconds: stays(61) }],
  ["ReplicaLagging", { cnpg_pg_replication_lag: stays(61) }],
  [
    "ReplicaLagging",
    { ...cluster([0, 1, 1]), [`cnpg_pg_replication_is_wal_receiver_up${instance("i1")}`]: stays(0) },
  ],
  [
    "DiskFilling",
    {
      'node_filesystem_avail_bytes{fstype="ext4"}': "290-0.3x600",
      'node_filesystem_size_bytes{fstype="ext4"}': stays(1000),
    },
    1,
  ],
  [
    "DiskFilling",
    {
      'kubelet_volume_stats_available_bytes{namespace="single-audit",persistentvolumeclaim="postgres-1-wal"}':
        "290-0.3x600",
      'kubelet_volume_stats_capacity_bytes{namespace="single-audit",persistentvolumeclaim="postgres-1-wal"}':
        stays(1000),
    },
    1,
  ],
  [
    "DiskAlmostFull",
    {
      'kubelet_volume_stats_available_bytes{namespace="single-audit",persistentvolumeclaim="postgres-1-wal"}':
        stays(9),
      'kubelet_volume_stats_capacity_bytes{namespace="single-audit",persistentvolumeclaim="postgres-1-wal"}':
        stays(100),
    },
  ],
  [
    "DiskAlmostFull",
    {
      'node_filesystem_avail_bytes{fstype="ext4"}': stays(9),
      'node_filesystem_size_bytes{fstype="ext4"}': stays(100),
    },
  ],
  ["ClockSkewed", { node_timex_offset_seconds: stays(2) }],
  ["ClockSkewed", { node_timex_sync_status: stays(0) }],
  ["CountersFilling", { kong_counters_memory_ratio: stays(0.81) }],
  ["CertificateExpiring", { probe_ssl_earliest_cert_expiry: stays(13 * 86400) }],
];

/** A service without faults, of which each alert has its metrics. */
const healthy = {
  ...Object.fromEntries(
    ["postgrest", "report-service", "refresher", "gateway"].map((job) => [`up{job="${job}"}`, stays(1)]),
  ),
  ...requests("kong_http", "code", 0),
  ...requests("report_service", "status", 0),
  'kong_http_requests_total{code="429"}': grows(10),
  'kong_request_latency_ms_bucket{route="postgrest",le="100"}': grows(60),
  'kong_request_latency_ms_bucket{route="postgrest",le="+Inf"}': grows(60),
  'report_service_storage_duration_seconds_bucket{le="0.1"}': grows(60),
  'report_service_storage_duration_seconds_bucket{le="+Inf"}': grows(60),
  'report_service_redemptions_total{result="redeemed"}': grows(60),
  'report_service_redemptions_total{result="refused"}': grows(1),
  'report_service_redemptions_total{result="file_missing"}': stays(0),
  'report_service_part_ready{part="storage"}': stays(1),
  'report_service_part_ready{part="database"}': stays(1),
  refresh_data_set_published: stays(1),
  refresh_data_set_age_seconds: "0+60x600",
  refresh_data_set_age_limit_seconds: stays(93600),
  refresh_last_success_timestamp_seconds: stays(0),
  'refresh_runs_total{outcome="published"}': "0x300 1x300",
  'refresh_runs_total{outcome="failed"}': "0x295 1x305",
  refresh_running: "0x290 1x20 0x290",
  refresh_leaks: stays(0),
  refresh_leaks_checked_timestamp_seconds: grows(60),
  refresh_database_connected: stays(1),
  refresh_ledger_compared: stays(1),
  refresh_ledger_waiting_seconds: stays(5),
  ...cluster([0, 1, 1]),
  'cnpg_backends_total{instance="i0"}': stays(20),
  'cnpg_pg_settings_setting{instance="i0",name="max_connections"}': stays(100),
  [`cnpg_pg_replication_lag${instance("i1")}`]: stays(1),
  cnpg_pg_stat_archiver_last_failed_time: stays(1),
  cnpg_pg_stat_archiver_last_archived_time: grows(60),
  'pg_stat_activity_count{instance="a"}': stays(20),
  'pg_settings_max_connections{instance="a"}': stays(100),
  pg_replication_lag_seconds: stays(1),
  'node_filesystem_avail_bytes{fstype="ext4"}': stays(50),
  'node_filesystem_size_bytes{fstype="ext4"}': stays(100),
  'kubelet_volume_stats_available_bytes{namespace="single-audit",persistentvolumeclaim="postgres-1-wal"}':
    stays(50),
  'kubelet_volume_stats_capacity_bytes{namespace="single-audit",persistentvolumeclaim="postgres-1-wal"}':
    stays(100),
  node_timex_offset_seconds: stays(0.01),
  node_timex_sync_status: stays(1),
  kong_counters_memory_ratio: stays(0.79),
  probe_ssl_earliest_cert_expiry: stays(60 * 86400),
};

const firing = (minute: number, alerts: string[]) => ({
  expr: 'count by (alertname) (ALERTS{alertstate="firing"} > 0) * 0 + 1',
  eval_time: `${minute}m`,
  exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
});
const scenario = (name: string, series: Record<string, string>, expected: object[]) => ({
  name,
  interval: "1m",
  input_series: Object.entries(series).map(([metric, values]) => ({ series: metric, values })),
  promql_expr_test: expected,
});

test("every alert has a fault that fires it", () => {
  expect([...new Set(faults.map(([alert]) => alert))].sort()).toEqual([...duration.keys()].sort());
});

const promtool = spawnSync("promtool", ["--version"]).status === 0;
if (!promtool) process.stderr.write("promtool is not installed, so no alert was fired.\n");

describe.runIf(promtool)("promtool", () => {
  const run = (...words: string[]) => spawnSync("promtool", words, { cwd: project, encoding: "utf8" });

  test("accepts deploy/monitoring/prometheus.yml", () => {
    expect(run("check", "config", "deploy/monitoring/prometheus.yml").status).toBe(0);
  });

  test("fires each alert after its time, and not before, and none while the service has no fault", async () => {
    const file = path.join(await makeDirectory(), "alerts.json");
    const tests = faults.map(([alert, series, delay = 0]) => {
      const after = delay + (duration.get(alert) ?? 0);
      return scenario(
        alert,
        series,
        [firing(after - 1, []), firing(after + 1, [alert])].slice(after > 1 ? 0 : 1),
      );
    });
    const hours = [10, 60, 120, 200, 300, 310, 400, 500].map((minute) => firing(minute, []));
    const content = {
      rule_files: [path.join(project, rules)],
      evaluation_interval: "1m",
      tests: [...tests, scenario("healthy", healthy, hours)],
    };
    writeFileSync(file, JSON.stringify(content));
    const { status, stdout, stderr } = run("test", "rules", file);
    expect([stdout + stderr, status]).toEqual([expect.stringContaining("SUCCESS"), 0]);
  });
});
