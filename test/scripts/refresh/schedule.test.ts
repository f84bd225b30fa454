import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { withPublisher } from "../../../scripts/refresh/connect-publisher.ts";
import { lockPublication } from "../../../scripts/refresh/lock-publication.ts";
import { readRefreshConfig } from "../../../scripts/refresh/refresh-config.ts";
import { type Schedule, startSchedule } from "../../../scripts/refresh/start-schedule.ts";
import { readTimetable } from "../../../shared/timetable.ts";
import { useRefresh } from "./support/refresh.ts";
import { submissions } from "./support/source-files.ts";

describe("the timetable", () => {
  // Around the days on which daylight saving time starts and ends.
  it.each([
    ["staging", "2027-03-12T12:00Z", "", ["2027-03-13T10:00", "2027-03-14T09:00", "2027-03-15T09:00"]],
    ["staging", "2026-11-01T09:30Z", "2026-10-31T09:00", ["2026-11-01T10:00", "2026-11-02T10:00"]],
    ["production", "2026-11-04T09:59Z", "2026-10-28T09:00", ["2026-11-04T10:00"]],
    ["production", "2026-11-04T10:01Z", "2026-11-04T10:00", ["2026-11-11T10:00"]],
    ["production", "2027-03-07T00:00Z", "", ["2027-03-10T10:00", "2027-03-17T09:00"]],
    ["development", "2026-11-01T09:30Z", undefined, []],
    ["preview", "2026-10-25T00:00Z", undefined, []],
  ] as const)("for %s has, at %s, the last run %s and the next runs %j", (environment, now, last, next) => {
    const format = (time: Date | undefined) => time?.toISOString().slice(0, 16);
    const timetable = readTimetable(environment);
    const runs = timetable?.nextRuns(Math.max(next.length, 1), new Date(now)) ?? [];
    expect(runs.map(format)).toEqual(next);
    if (last !== "") expect(format(timetable?.previousRuns(1, new Date(now))[0])).toBe(last);
  });
});

describe("the refresh service", () => {
  const minute = 10;
  const here = useRefresh();
  const write = (...numbers: number[]) => here.write("general", submissions(...numbers));
  beforeEach(() => write(1));

  async function withService(
    environment: string,
    work: (schedule: Schedule, ask: (path: string) => Promise<string>) => Promise<void>,
    more: Record<string, string> = {},
  ): Promise<void> {
    const config = readRefreshConfig({
      DATABASE_URL: here.database.url,
      ENVIRONMENT: environment,
      REFRESH_SOURCE: here.directory,
      REFRESH_PORT: "0",
      ...more,
    });
    const schedule = await startSchedule(config, pino({ level: "silent" }), { minute });
    const ask = async (target: string) => (await fetch(`${schedule.url}${target}`)).text();
    await work(schedule, ask).finally(() => schedule.close());
  }
  const read = (metrics: string, name: string) =>
    Number(new RegExp(`^refresh_${name} ([\\d.e+-]+)$`, "m").exec(metrics)?.[1]);
  const outcomes = (metrics: string) => {
    const counts = metrics.matchAll(/^refresh_runs_total\{outcome="(\w+)"\} ([1-9]\d*)$/gm);
    return Object.fromEntries([...counts].map(([, outcome, count]) => [outcome, Number(count)]));
  };

  it("publishes at once if no data set is published, skips unchanged source files, and reports the age of the data set", async () => {
    await withService("development", async (_schedule, ask) => {
      expect(read(await ask("/metrics"), "data_set_published")).toBe(0);
    });
    await withService("staging", async (schedule, ask) => {
      const readHealth = async () => JSON.parse(await ask("/healthz"));
      const isPublished = { refreshing: false, published_at: expect.any(String) };
      await expect.poll(readHealth).toMatchObject(isPublished);
      expect(read(await ask("/metrics"), "data_set_published")).toBe(1);
      await schedule.refreshNow();
      const metrics = await ask("/metrics");
      expect(outcomes(metrics)).toEqual({ published: 1, skipped: 1 });
      expect(read(metrics, "data_set_age_seconds")).toBeGreaterThan(0);
      expect(read(metrics, "data_set_age_seconds")).toBeLessThan(600);
      expect(read(metrics, "last_success_timestamp_seconds")).toBeGreaterThan(0);
      // A day between refreshes, and a day in case one fails; daylight saving time adds or takes an hour.
      expect(Math.abs(read(metrics, "data_set_age_limit_seconds") - 2 * 86_400)).toBeLessThanOrEqual(3600);
      expect(JSON.parse(await ask("/healthz"))).toMatchObject({
        database: "ok",
        environment: "staging",
        refreshing: false,
        next_run: expect.stringMatching(/T(09|10):00:00\.000Z$/),
      });
    });
  });

  it("refreshes at once if a refresh was due while it did not run, and only then", async () => {
    await write(1, 6);
    const setAge =
      "update publication.data_sets set published_at = now() - $1::interval where state = 'live'";
    await here.select(setAge, ["0 days"]);
    await withService("production", async (_schedule, ask) => {
      expect(JSON.parse(await ask("/healthz"))).toMatchObject({ refreshing: false });
      expect(outcomes(await ask("/metrics"))).toEqual({});
    });
    await here.select(setAge, ["8 days"]);
    await withService("production", async (_schedule, ask) => {
      await expect.poll(async () => outcomes(await ask("/metrics"))).toEqual({ published: 1 });
    });
    expect(await here.list("select right(report_id, 1) from disclosed.general")).toEqual(["1", "6"]);
  });

  it("does not compare the ledger again while a comparison waits", async () => {
    const listWaiting = () =>
      here.list(
        "select pid::text from pg_stat_activity where application_name = 'refresh' and wait_event = 'advisory'",
      );
    await withService("development", () =>
      withPublisher({ connectionString: here.database.url }, async (client) => {
        await client.query("select pg_advisory_lock(hashtext('ledger'))");
        await expect.poll(listWaiting, { timeout: 15_000 }).toHaveLength(1);
        await sleep(12_000);
        expect(await listWaiting()).toHaveLength(1);
      }),
    );
  }, 60_000);

  it("retries after 1, 5, 15 and 60 minutes, and stops once a refresh succeeds", async () => {
    await writeFile(path.join(here.directory, "general.csv"), "<html>\n");
    await withService("staging", async (schedule, ask) => {
      const start = performance.now();
      await schedule.refreshNow();
      expect(performance.now() - start).toBeGreaterThan((1 + 5 + 15 + 60) * minute);
      expect(outcomes(await ask("/metrics"))).toEqual({ failed: 5 });
      const run = schedule.refreshNow();
      await expect.poll(async () => outcomes(await ask("/metrics")).failed).toBeGreaterThan(6);
      await write(1, 2);
      await run;
      expect(outcomes(await ask("/metrics"))).toMatchObject({ published: 1 });
    });
  });

  it("tries again if another refresh is running, in case that one fails", async () => {
    await write(1, 2, 3);
    await withService("development", async (schedule, ask) => {
      await withPublisher({ connectionString: here.database.url }, (client) =>
        lockPublication(client, async () => {
          void schedule.refreshNow();
          await expect.poll(async () => outcomes(await ask("/metrics"))).toEqual({ busy: 1 });
        }),
      );
      await expect.poll(async () => outcomes(await ask("/metrics"))).toMatchObject({ published: 1 });
    });
  });

  it("counts leaks of suppressed data, and has no timer in development", async () => {
    const states = { enable: 0, disable: 1 };
    for (const change of ["enable", "disable", "enable"] as const) {
      await here.select(`alter table suppressed.general ${change} row level security`);
      await withService("development", async (_schedule, ask) => {
        const metrics = await ask("/metrics");
        expect(read(metrics, "leaks")).toBe(states[change]);
        expect(Date.now() / 1000 - read(metrics, "leaks_checked_timestamp_seconds")).toBeLessThan(600);
        for (const name of ["data_set_age_limit", "last_success_timestamp"])
          expect(read(metrics, `${name}_seconds`)).toBeNaN();
        expect(JSON.parse(await ask("/healthz")).next_run).toBeNull();
      });
    }
  });

  it("removes one-time tokens that expired long ago, once an hour", async () => {
    const setTimer = vi.spyOn(globalThis, "setInterval");
    onTestFinished(() => setTimer.mockRestore());
    await here.select(
      `insert into access.access_tokens (token_sha256, report_id, api_key_id, requested_at, expires_at)
       select sha256('old'), '2023-06-GSAFAC-0000000001', id, now() - interval '1 year', now() - interval '1 year'
       from access.api_keys limit 1`,
    );
    await withService("staging", async (_schedule, ask) => {
      expect(read(await ask("/metrics"), "pruned_access_tokens_total")).toBe(1);
      expect(setTimer).toHaveBeenCalledWith(expect.any(Function), 3_600_000);
    });
  });

  it("is ready only while it can read its source, but alive without it", async () => {
    await withService("staging", async (schedule, ask) => {
      expect(JSON.parse(await ask("/readyz"))).toMatchObject({ database: "ok", storage: "ok" });
      await rename(here.directory, `${here.directory}.away`);
      try {
        const response = await fetch(`${schedule.url}/readyz`);
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject({ database: "ok", storage: "unavailable" });
        expect((await fetch(`${schedule.url}/healthz`)).status).toBe(200);
      } finally {
        await rename(`${here.directory}.away`, here.directory);
      }
    });
  });

  it("switches a preview off until an operator has switched it on", async () => {
    const isOpen = () => here.list("select is_switched_on from publication.settings");
    await withService("preview", async () => expect(await isOpen()).toEqual([false]));
    expect(await here.refresh("--requests", "on")).toMatchObject({ code: 0 });
    await withService("preview", async () => expect(await isOpen()).toEqual([true]));
  });

  it("does not start in staging without a source", async () => {
    const start = withService("staging", async () => {}, { REFRESH_SOURCE: "" });
    await expect(start).rejects.toThrow("Set REFRESH_SOURCE.");
  });
});
