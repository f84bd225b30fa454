import { rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readRefreshConfig } from "../../../scripts/refresh/refresh-config.ts";
import { type Schedule, startSchedule } from "../../../scripts/refresh/start-schedule.ts";
import { connect } from "../../../service/connect.ts";
import { findLastRun, listNextRuns } from "../../../service/timetable.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const runs = (environment: "production" | "staging", after: string, count: number) =>
  listNextRuns(environment, count, new Date(after)).map((time) => time.toISOString());

describe("the timetable", () => {
  it("is daily at 5 a.m. Eastern in staging, when summer time begins", () => {
    expect(runs("staging", "2027-03-12T12:00:00Z", 3)).toEqual([
      "2027-03-13T10:00:00.000Z",
      "2027-03-14T09:00:00.000Z",
      "2027-03-15T09:00:00.000Z",
    ]);
  });
  it("and when it ends", () => {
    expect(runs("staging", "2026-10-30T12:00:00Z", 3)).toEqual([
      "2026-10-31T09:00:00.000Z",
      "2026-11-01T10:00:00.000Z",
      "2026-11-02T10:00:00.000Z",
    ]);
  });
  it("is once a day in staging all year", () => {
    const days = runs("staging", "2026-12-31T23:00:00Z", 365).map((time) => time.slice(0, 10));
    expect(new Set(days).size).toBe(365);
    expect(days.at(-1)).toBe("2027-12-31");
  });
  it("is Wednesdays at 5 a.m. Eastern in production, around both changes", () => {
    expect(runs("production", "2026-10-25T00:00:00Z", 2)).toEqual([
      "2026-10-28T09:00:00.000Z",
      "2026-11-04T10:00:00.000Z",
    ]);
    expect(runs("production", "2027-03-07T00:00:00Z", 2)).toEqual([
      "2027-03-10T10:00:00.000Z",
      "2027-03-17T09:00:00.000Z",
    ]);
  });
  it("knows when it was due last, also before a change of the clocks", () => {
    const lastRun = (environment: "production" | "staging", before: string) =>
      findLastRun(environment, new Date(before))?.toISOString();
    expect(lastRun("production", "2026-11-04T09:59:59Z")).toBe("2026-10-28T09:00:00.000Z");
    expect(lastRun("production", "2026-11-04T10:00:01Z")).toBe("2026-11-04T10:00:00.000Z");
    expect(lastRun("staging", "2026-11-01T09:30:00Z")).toBe("2026-10-31T09:00:00.000Z");
  });
  it("is empty in development and previews", () => {
    expect(findLastRun("development")).toBeUndefined();
    expect(listNextRuns("development", 3)).toEqual([]);
    expect(listNextRuns("preview", 3)).toEqual([]);
  });
});

describe("the schedule's service", () => {
  const database = useDeployedDatabase();
  let directory: string;
  let removeDirectory: () => Promise<void>;
  const logger = pino({ level: "silent" });

  beforeAll(async () => {
    ({ directory, remove: removeDirectory } = await makeDirectory());
  });
  afterAll(async () => {
    await removeDirectory();
  });
  beforeEach(async () => {
    await rm(path.join(directory, "general.csv"), { force: true });
    await writeCsv(directory, "general", [submission(1)]);
  });

  async function withService(
    environment: string,
    work: (schedule: Schedule, ask: (path: string) => Promise<string>) => Promise<void>,
    more: Record<string, string> = {},
  ): Promise<void> {
    const config = readRefreshConfig({
      DATABASE_URL: database.url,
      ENVIRONMENT: environment,
      REFRESH_SOURCE: directory,
      REFRESH_PORT: "0",
      ...more,
    });
    const schedule = await startSchedule(config, logger, { minute: 50 });
    try {
      await work(schedule, async (target) => (await fetch(`${schedule.url}${target}`)).text());
    } finally {
      await schedule.close();
    }
  }
  const outcomes = (metrics: string) =>
    Object.fromEntries(
      [...metrics.matchAll(/^refresh_runs_total\{outcome="(\w+)"\} ([1-9]\d*)$/gm)].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );

  it("publishes, skips what has not changed, and tells the age of the data set", async () => {
    await withService("staging", async (schedule, ask) => {
      await schedule.refreshNow();
      await schedule.refreshNow();
      const metrics = await ask("/metrics");
      expect(outcomes(metrics)).toEqual({ published: 1, skipped: 1 });
      const age = Number(/^refresh_data_set_age_seconds ([\d.e-]+)$/m.exec(metrics)?.[1]);
      expect(age).toBeGreaterThan(0);
      expect(age).toBeLessThan(20);
      expect(metrics).toMatch(/^refresh_next_run_timestamp_seconds \d/m);
      expect(metrics).toMatch(/^refresh_last_success_timestamp_seconds \d/m);
      // A day, and a day for what may go wrong; an hour more or less where summer time begins or ends.
      const limit = Number(/^refresh_data_set_age_limit_seconds (\d+)$/m.exec(metrics)?.[1]);
      expect(Math.abs(limit - 2 * 86_400)).toBeLessThanOrEqual(3600);
      const health = JSON.parse(await ask("/healthz"));
      expect(health).toMatchObject({ database: "ok", environment: "staging", refreshing: false });
      expect(health.next_run).toMatch(/T(09|10):00:00\.000Z$/);
    });
  });

  it("makes up for a refresh that was due while it did not run, and only then", async () => {
    await writeCsv(directory, "general", [submission(1), submission(6)]);
    await database.client.query("update publication.data_sets set published_at = now() where state = 'live'");
    await withService("production", async (_schedule, ask) => {
      expect(JSON.parse(await ask("/healthz"))).toMatchObject({ refreshing: false });
      expect(outcomes(await ask("/metrics"))).toEqual({});
    });
    await database.client.query(
      "update publication.data_sets set published_at = now() - interval '8 days' where state = 'live'",
    );
    await withService("production", async (_schedule, ask) => {
      await expect.poll(async () => outcomes(await ask("/metrics"))).toEqual({ published: 1 });
    });
    const { rows } = await database.client.query("select report_id from disclosed.general order by 1");
    expect(rows.map(({ report_id }) => report_id.slice(-1))).toEqual(["1", "6"]);
  });

  it("tries again, later each time, until it succeeds", async () => {
    await writeFile(path.join(directory, "general.csv"), "<html>\n");
    await withService("staging", async (schedule, ask) => {
      const run = schedule.refreshNow();
      await expect.poll(async () => outcomes(await ask("/metrics")).failed).toBeGreaterThan(1);
      await writeCsv(directory, "general", [submission(1), submission(2)]);
      await run;
      expect(outcomes(await ask("/metrics"))).toMatchObject({ published: 1 });
    });
  });

  it("leaves a run out while another refresh is running", async () => {
    const other = await connect(database.url, "test");
    await other.query("select pg_advisory_lock(hashtext('publication'))");
    await writeCsv(directory, "general", [submission(1), submission(3)]);
    await withService("staging", async (schedule, ask) => {
      await schedule.refreshNow();
      expect(outcomes(await ask("/metrics"))).toEqual({ busy: 1 });
    });
    await other.end();
  });

  it("counts the ways in which suppressed data can be seen", async () => {
    const count = async () => {
      let metrics = "";
      await withService("development", async (_schedule, ask) => {
        metrics = await ask("/metrics");
      });
      const checked = Number(/^refresh_leaks_checked_timestamp_seconds ([\d.e+]+)$/m.exec(metrics)?.[1]);
      expect(Date.now() / 1000 - checked).toBeLessThan(60);
      return Number(/^refresh_leaks (\d+)$/m.exec(metrics)?.[1]);
    };
    expect(await count()).toBe(0);
    await database.client.query("alter table suppressed.general disable row level security");
    expect(await count()).toBe(1);
    await database.client.query("alter table suppressed.general enable row level security");
    expect(await count()).toBe(0);
  });

  it("removes one-time tokens that expired long ago", async () => {
    await database.client.query(
      `insert into access.access_tokens (token_sha256, report_id, api_key_id, requested_at, expires_at)
       select sha256('old'), '2023-06-GSAFAC-0000000001', id, now() - interval '1 year', now() - interval '1 year'
       from access.api_keys limit 1`,
    );
    await withService("staging", async (_schedule, ask) => {
      expect(await ask("/metrics")).toMatch(/^refresh_pruned_access_tokens_total 1$/m);
    });
  });

  it("is ready while it reaches the database and its source, and alive without", async () => {
    await withService("staging", async (schedule, ask) => {
      expect(JSON.parse(await ask("/readyz"))).toMatchObject({ database: "ok", storage: "ok" });
      await rename(directory, `${directory}.away`);
      try {
        const response = await fetch(`${schedule.url}/readyz`);
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({ database: "ok", storage: "unavailable" });
        expect((await fetch(`${schedule.url}/healthz`)).status).toBe(200);
      } finally {
        await rename(`${directory}.away`, directory);
      }
    });
  });

  it("has no timer in development", async () => {
    await withService("development", async (_schedule, ask) => {
      expect(JSON.parse(await ask("/healthz")).next_run).toBeNull();
      expect(await ask("/metrics")).not.toMatch(
        /^refresh_(next_run_timestamp|data_set_age_limit|last_success_timestamp)_seconds \d/m,
      );
    });
  });

  it("switches a preview off until someone has switched it on", async () => {
    const isOpen = async () =>
      (await database.client.query("select is_open from publication.settings")).rows[0].is_open;
    await withService("preview", async () => expect(await isOpen()).toBe(false));
    await database.client.query(
      "update publication.settings set is_open = true, changed_at = now(), changed_by = 'x'",
    );
    await withService("preview", async () => expect(await isOpen()).toBe(true));
  });

  it("does not start in staging without a source", async () => {
    await expect(withService("staging", async () => {}, { REFRESH_SOURCE: "" })).rejects.toThrow(
      /^REFRESH_SOURCE is missing/,
    );
  });
});
