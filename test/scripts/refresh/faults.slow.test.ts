import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rename } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { beforeAll, describe, expect, it } from "vitest";
import { withPublisher } from "../../../scripts/refresh/connect-publisher.ts";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { readRefreshConfig } from "../../../scripts/refresh/refresh-config.ts";
import type { RefreshOptions } from "../../../scripts/refresh/refresh-data-set.ts";
import { startSchedule } from "../../../scripts/refresh/start-schedule.ts";
import { writeCsv } from "../../../scripts/refresh/write-csv.ts";
import { writeSample } from "../../../scripts/sample/write-sample.ts";
import { limits, lost, session, silent, useFaults } from "./support/faults.ts";
import { submissions } from "./support/source-files.ts";

// Whatever fails, a refresh ends with a reason, frees its lock, and leaves the live data set and its files as they are.
// phases.slow.test.ts has the same for each phase.

const { here, refresh, disturb, fail, ...faults } = useFaults();

it("a database that stops answering ends the refresh, and the next one succeeds", async () => {
  const reason = await fail(() => disturb("Checking", () => faults.databaseWire().hold()));
  expect(reason).toMatch(new RegExp(`^${lost}.*${silent}`));
  expect(await refresh()).toBe("published");
});

it("a session that PostgreSQL has lost without a word ends the refresh", async () => {
  // The relay holds only the connection that is open: as a firewall that has forgotten it.
  const forget = async () => {
    await faults.databaseWire().hold();
    faults.databaseWire().passNew();
  };
  expect(await fail(() => disturb("Checking", forget))).toMatch(new RegExp(`^${lost}`));
});

describe("a bulk file that cannot be written", () => {
  const count = "select repeat('x', 1000) || number from generate_series(1, 100000) as number";
  const write = (sql: string, target: string, act: () => unknown = () => {}) =>
    withPublisher(
      { connectionString: here.database.url },
      async (client) => {
        const writing = writeCsv(client, sql, [{ path: target }]).catch(explainFailure);
        await act();
        const reason = await writing;
        // This query never returned if the connection was still used.
        await expect(client.query("rollback")).rejects.toThrow(/not queryable|closed/);
        return reason;
      },
      session,
    );

  it("ends the connection, and says that the disk is full", async () => {
    expect(await write(count, "/dev/full")).toMatch(
      /^\/dev\/full cannot be written: ENOSPC\. The disk is full\./,
    );
  });

  it("ends the connection if the COPY is canceled", async () => {
    expect(await write("select pg_sleep(30)", "/dev/null", faults.cancelSleep)).toMatch(
      /^A statement .* canceled/,
    );
  });

  /** Runs `npm run refresh` in a process that can write files of at most 16 KB, as if the disk were full. */
  function runLimited(args: string[], more: Record<string, string> = {}) {
    const node = [process.execPath, "--import", "tsx", "scripts/refresh.ts", "--from", sample, ...args];
    const env = {
      ...{ PATH: process.env.PATH, TSX_DISABLE_CACHE: "1" },
      ...{ DATABASE_URL: here.database.url, PUBLIC_DATA: here.publicData, ...more },
    };
    const limit = 'ulimit -f 16; exec "$@"';
    return spawn("bash", ["-c", limit, "bash", ...node], { env, stdio: ["ignore", "pipe", "pipe"] });
  }
  const isFull = /\S+\/\.part-\w+\/\S+ cannot be written: EFBIG\. The disk is full\./;
  const anyway = ["--force", "--accept-shrink", "--accept-growth"];
  let sample = "";
  beforeAll(async () => {
    sample = path.join(here.directory, "sample");
    // So many that a COPY is broken off in the middle.
    await writeSample({ directory: sample, submissions: 2000 });
  });

  it("ends the program with status 1 and the path, and removes what it wrote", async () => {
    const before = await readdir(here.publicData);
    const run = async () => {
      const child = runLimited(anyway);
      const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
      expect(code, output).toBe(1);
      return output.trimEnd().split("\n").at(-1) ?? "";
    };
    expect(await fail(run)).toMatch(isFull);
    expect(before).toEqual(expect.arrayContaining(await readdir(here.publicData)));
  });

  it("counts as a failure of the schedule, which frees the lock for others", async () => {
    expect(await here.refresh("--from", sample, ...anyway)).toMatchObject({ code: 0 });
    // Another name makes it another source.
    await rename(path.join(sample, "general.csv"), path.join(sample, "2023-general.csv"));
    await here.select("update publication.data_sets set published_at = now() - interval '8 days'");
    const child = runLimited(["--schedule"], { ENVIRONMENT: "staging", REFRESH_PORT: "0" });
    try {
      let log = "";
      child.stdout.on("data", (chunk) => {
        log += chunk;
      });
      await expect.poll(() => log).toMatch(/refresh: failed\. /);
      expect(log).toMatch(isFull);
      const [, url] = /"url":"([^"]+)"/.exec(log) ?? [];
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain('refresh_runs_total{outcome="failed"} 1');
      expect(await here.publish(...anyway)).toMatchObject({ code: 0 });
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("storage", () => {
  const fromS3 = { from: "s3://data/source" };
  const toS3 = { publicData: "s3://data/public" };

  it("that stops in the middle of a file is asked again for the rest", async () => {
    faults.s3().stalled = { key: "source/general.csv", times: 2 };
    faults.s3().requests = [];
    expect(await refresh(fromS3)).toBe("published");
    expect(await here.list("select count(*)::integer from disclosed.general")).toEqual([2]);
  });

  it("that stops in the middle of a file three times ends the refresh", async () => {
    faults.s3().stalled = { key: "source/general.csv", times: Number.POSITIVE_INFINITY };
    const reason = /^s3:\/\/data\/source\/general\.csv\S* .*(nothing came for 0\.3 s)/;
    expect(await fail(() => refresh(fromS3))).toMatch(reason);
  });

  it("that stops in the middle of a list of files ends the refresh", async () => {
    faults.s3().stalled = { key: "list-type=2", times: 1 };
    expect(await fail(() => refresh(fromS3))).toMatch(/^s3:\/\/data\/source cannot be read: nothing came/);
  });

  it.each<[string, Partial<RefreshOptions>, () => unknown]>([
    ["Reading", fromS3, () => faults.storageWire().hold()],
    ["Reading", fromS3, () => faults.storageWire().refuse()],
    ["Writing the bulk files", toS3, () => faults.storageWire().hold()],
    ["Writing the bulk files", toS3, () => faults.storageWire().refuse()],
    [
      "Writing the bulk files",
      toS3,
      () => Object.assign(faults.s3(), { failure: { status: 503, code: "SlowDown" } }),
    ],
  ])("that fails at “%s” ends the refresh: %j %s", async (phase, options, act) => {
    expect(await fail(() => disturb(phase, act, options))).toMatch(
      /^s3:\/\/data\S* cannot be (read|written)/,
    );
    Object.assign(faults.s3(), { failure: null });
    await faults.storageWire().pass();
    expect(await refresh(options)).toBe("published");
  });

  it("that never confirms a file ends the refresh after three tries", async () => {
    Object.assign(faults.s3(), { hungKey: "/findings.csv.gz", requests: [] });
    const reason = await fail(() => refresh(toS3));
    expect(reason).toMatch(/findings\.csv\.gz cannot be written: storage accepted nothing for 0\.\d+ s/);
    const sent = faults.s3().requests.filter((request) => request.endsWith("/findings.csv.gz"));
    expect(sent).toHaveLength(3);
    // So that its space is free for the next try.
    const live = await here.list("select id from publication.data_sets where state in ('live', 'previous')");
    await expect
      .poll(() => [...faults.s3().objects.keys()].filter((key) => /^public\/[0-9a-f-]{36}/.test(key)))
      .toSatisfy((left: string[]) => left.every((key) => live.includes(key.split("/")[1])));
  });

  it("that fails after the publication ends the refresh, and the next one finishes it", async () => {
    const before = await here.liveId();
    const reason = await disturb("Publishing", () => faults.storageWire().hold(), toS3);
    expect(reason).toMatch(/^The data set is live, but requests for its bulk files get 503: s3:.*again/);
    const live = await here.liveId();
    expect(live).not.toBe(before);
    await faults.storageWire().pass();
    expect(await refresh({ ...toS3, force: false })).toBe("skipped");
    expect(faults.s3().objects.get("public/manifest.json")?.toString()).toContain(live);
  });

  it("that hangs while the database goes away does not delay the end", async () => {
    const waiting = {
      ...faults.storage(),
      limits: { ...limits, answer: 3_600_000, idle: 3_600_000, total: 3_600_000 },
    };
    const act = async () => {
      await faults.storageWire().hold();
      await faults.terminate();
    };
    const run = () => disturb("Writing the bulk files", act, { ...toS3, storage: waiting });
    expect(await fail(run)).toMatch(new RegExp(`^${lost}`));
  });
});

it("the schedule counts each failure, stays reachable, and publishes once the database answers again", async () => {
  const config = readRefreshConfig({
    DATABASE_URL: faults.databaseUrl(),
    ENVIRONMENT: "development",
    REFRESH_SOURCE: here.directory,
    REFRESH_PORT: "0",
  });
  await here.write("general", submissions(1, 2, 3));
  const schedule = await startSchedule({ ...config, limits: session }, pino({ level: "silent" }), {
    minute: 20,
  });
  const count = async (outcome: string) => {
    const metrics = await (await fetch(`${schedule.url}/metrics`)).text();
    return Number(new RegExp(`^refresh_runs_total\\{outcome="${outcome}"\\} (\\d+)`, "m").exec(metrics)?.[1]);
  };
  await faults.databaseWire().hold();
  const run = schedule.refreshNow();
  await expect.poll(() => count("failed")).toBeGreaterThan(0);
  await faults.databaseWire().pass();
  await run;
  expect(await count("published")).toBe(1);
  await schedule.close();
});
