import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { withPublisher } from "../../../scripts/refresh/connect-publisher.ts";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { readRefreshConfig } from "../../../scripts/refresh/refresh-config.ts";
import { type RefreshOptions, refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { startSchedule } from "../../../scripts/refresh/start-schedule.ts";
import type { SessionLimits } from "../../../scripts/refresh/watch-session.ts";
import { writeCsv } from "../../../scripts/refresh/write-csv.ts";
import { writeSample } from "../../../scripts/sample/write-sample.ts";
import type { StorageLimits } from "../../../service/objects.ts";
import { type Relay, startRelay } from "../../support/relay.ts";
import { type S3Server, startS3Server } from "../../support/s3-server.ts";
import { type Edits, useRefresh, withDefinitions } from "./support/refresh.ts";
import { submissions } from "./support/source-files.ts";

// Whatever fails, a refresh ends with a reason, frees its lock, and leaves the live data set and its files as they are.

const here = useRefresh();
const keys = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };
const session: SessionLimits = { check: 100, silence: 1_000 };
const limits: StorageLimits = { connect: 300, answer: 300, idle: 300, total: 3_000, tries: 3 };
let databaseWire: Relay;
let storageWire: Relay;
let s3: S3Server;

beforeAll(async () => {
  s3 = await startS3Server({ bucket: "data", ...keys });
  storageWire = await startRelay(s3.port);
  databaseWire = await startRelay(Number(new URL(here.database.url).port));
  const csv = await here.write("general", submissions(1, 2));
  s3.objects.set("source/general.csv", Buffer.from(csv));
  expect(await here.publish()).toMatchObject({ code: 0 });
});
afterEach(async () => {
  Object.assign(s3, { stalled: null, failure: null });
  await Promise.all([databaseWire.pass(), storageWire.pass()]);
});
afterAll(() => Promise.all([s3.close(), databaseWire.refuse(), storageWire.refuse()]));

const database = () => {
  const url = new URL(here.database.url);
  url.host = `127.0.0.1:${databaseWire.port}`;
  return { connectionString: url.href };
};
const storage = () => ({
  region: "us-gov-west-1",
  endpoint: `http://127.0.0.1:${storageWire.port}`,
  forcePathStyle: true,
  credentials: keys,
  limits,
});
const refresh = (options: Partial<RefreshOptions> = {}, own?: SessionLimits) => {
  const common = { from: here.directory, publicData: here.publicData, storage: storage(), force: true };
  const run = withPublisher(database(), (client) => refreshDataSet(client, { ...common, ...options }), own);
  return run.then(({ outcome }) => outcome, explainFailure);
};
/** Runs a refresh that `act` disturbs when it reports the beginning of a phase. */
const disturb = (phase: string, act: () => unknown, options: Partial<RefreshOptions> = {}) => {
  let acted: unknown;
  const report = (line: string) => {
    if (line.startsWith(phase)) acted ??= act();
  };
  return refresh({ ...options, report }, session).then(async (result) => {
    expect(acted, `the refresh did not reach “${phase}”`).toBeDefined();
    await acted;
    return result;
  });
};
const readState = async () => [
  await here.liveId(),
  await readFile(path.join(here.publicData, "manifest.json"), "utf8"),
];
const sessions = "from pg_stat_activity where application_name = 'refresh' and datname = current_database()";
/** Runs a refresh that must fail, and checks what it leaves. Returns its reason. */
async function fail(run: () => Promise<string>): Promise<string> {
  const before = await readState();
  const reason = await run();
  await databaseWire.pass();
  expect(await readState()).toEqual(before);
  const locks =
    "select count(*)::int from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";
  await expect.poll(() => here.list(locks)).toEqual([0]);
  await expect.poll(() => here.list(`select count(*)::int ${sessions}`)).toEqual([0]);
  return reason;
}

const phases = [
  ...[
    "Reading",
    "general.csv: ",
    "Checking",
    "Building",
    "Vacuuming",
    "Writing the bulk files",
    "Publishing",
  ],
];
const lost = "PostgreSQL was stopped, or the connection to it was lost: ";
describe.each(phases)("at “%s”,", (phase) => {
  it.each<[string, string, () => unknown]>([
    ["a database that stops answering", "does not answer", () => databaseWire.hold()],
    ["a network that is cut", "", () => databaseWire.refuse()],
    ["a session that is terminated", "", () => here.select(`select pg_terminate_backend(pid) ${sessions}`)],
  ])("%s ends the refresh, and the next one succeeds", async (_what, reason, act) => {
    expect(await fail(() => disturb(phase, act))).toMatch(new RegExp(`^${lost}.*${reason}`));
    await databaseWire.pass();
    expect(await refresh()).toBe("published");
  });
});

it.each(["staging", "check", "build", "publish", "views"])(
  "a statement that is canceled in %s.sql ends the refresh",
  async (name) => {
    const edits: Edits = { [`${name}.sql`]: (sql) => `${sql}\nselect pg_sleep(30);\n` };
    const cancel = "and state = 'active' and wait_event = 'PgSleep'";
    const run = async () => {
      const running = withDefinitions(edits, () => refresh());
      await expect
        .poll(() => here.list(`select pg_cancel_backend(pid) ${sessions} ${cancel}`))
        .toEqual([true]);
      return running;
    };
    expect(await fail(run)).toMatch(/^A statement of the refresh was canceled: .*user request/);
  },
);

it("a session that PostgreSQL has lost without a word ends the refresh", async () => {
  // The relay holds only the connection that is open: as a firewall that has forgotten it.
  const forget = async () => {
    await databaseWire.hold();
    databaseWire.passNew();
  };
  expect(await fail(() => disturb("Checking", forget))).toMatch(/did not receive the statement/);
});

describe("a bulk file that cannot be written", () => {
  const count = "select repeat('x', 1000) || number from generate_series(1, 100000) as number";
  const write = (sql: string, target: string, act: () => unknown = () => {}) =>
    withPublisher(
      { connectionString: here.database.url },
      async (client) => {
        const writing = writeCsv(client, sql, target).catch(explainFailure);
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
    const cancel = () =>
      expect
        .poll(() => here.list(`select pg_cancel_backend(pid) ${sessions} and wait_event = 'PgSleep'`))
        .toEqual([true]);
    expect(await write("select pg_sleep(30)", "/dev/null", cancel)).toMatch(/^A statement .* canceled/);
  });

  /** Runs `npm run refresh` in a process that can write files of at most 16 KB, as if the disk were full. */
  async function runLimited(args: string[], more: Record<string, string> = {}) {
    const source = path.join(here.directory, "sample");
    await writeSample({ directory: source, submissions: 400 });
    const command = `ulimit -f 16; exec "$@"`;
    const node = [process.execPath, "--import", "tsx", "scripts/refresh.ts", "--from", source, ...args];
    const env = {
      ...{ PATH: process.env.PATH, TSX_DISABLE_CACHE: "1" },
      ...{ DATABASE_URL: here.database.url, PUBLIC_DATA: here.publicData, ...more },
    };
    return spawn("bash", ["-c", command, "bash", ...node], { env, stdio: ["ignore", "pipe", "pipe"] });
  }

  it("ends the program with status 1 and the path, and removes what it wrote", async () => {
    const before = await readdir(here.publicData);
    const run = async () => {
      const child = await runLimited(["--force", "--accept-growth"]);
      const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
      expect(code, output).toBe(1);
      return output.trimEnd().split("\n").at(-1) ?? "";
    };
    expect(await fail(run)).toMatch(/^\S+\/\.part-\w+\/\S+ cannot be written: .*EFBIG\. The disk is full\./);
    expect(await readdir(here.publicData)).toEqual(before);
  });

  it("counts as a failure of the schedule, which frees the lock for others", async () => {
    await here.select("update publication.data_sets set published_at = now() - interval '8 days'");
    const child = await runLimited(["--schedule", "--accept-growth"], {
      ENVIRONMENT: "staging",
      REFRESH_PORT: "0",
    });
    try {
      let log = "";
      child.stdout.on("data", (chunk) => {
        log += chunk;
      });
      await expect.poll(() => log, { timeout: 40_000 }).toContain("refresh: failed. ");
      const [, url] = /"url":"([^"]+)"/.exec(log) ?? [];
      expect(await (await fetch(`${url}/metrics`)).text()).toContain(
        'refresh_runs_total{outcome="failed"} 1',
      );
      expect(await here.publish("--force", "--accept-shrink")).toMatchObject({ code: 0 });
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("storage", () => {
  const fromS3 = { from: "s3://data/source" };
  const toS3 = { publicData: "s3://data/public" };

  it("that stops in the middle of a file is asked again for the rest", async () => {
    s3.stalled = { key: "source/general.csv", times: 2 };
    s3.requests = [];
    expect(await refresh(fromS3)).toBe("published");
    expect(await here.list("select count(*)::integer from disclosed.general")).toEqual([2]);
  });

  it("that stops in the middle of a file three times ends the refresh", async () => {
    s3.stalled = { key: "source/general.csv", times: Number.POSITIVE_INFINITY };
    const reason = /^s3:\/\/data\/source\/general\.csv\S* .*(nothing came for 0\.3 s)/;
    expect(await fail(() => refresh(fromS3))).toMatch(reason);
  });

  it.each<[string, Partial<RefreshOptions>, () => unknown]>([
    ["Reading", fromS3, () => storageWire.hold()],
    ["Reading", fromS3, () => storageWire.refuse()],
    ["Writing the bulk files", toS3, () => storageWire.hold()],
    ["Writing the bulk files", toS3, () => storageWire.refuse()],
    ["Writing the bulk files", toS3, () => Object.assign(s3, { failure: { status: 503, code: "SlowDown" } })],
  ])("that fails at “%s” ends the refresh: %j %s", async (phase, options, act) => {
    expect(await fail(() => disturb(phase, act, options))).toMatch(
      /^s3:\/\/data\S* cannot be (read|written)/,
    );
    Object.assign(s3, { failure: null });
    await storageWire.pass();
    expect(await refresh(options)).toBe("published");
  });

  it("that hangs while the database goes away does not delay the end", async () => {
    const waiting = {
      ...storage(),
      limits: { ...limits, answer: 3_600_000, idle: 3_600_000, total: 3_600_000 },
    };
    const act = async () => {
      await storageWire.hold();
      await here.select(`select pg_terminate_backend(pid) ${sessions}`);
    };
    const run = () => disturb("Writing the bulk files", act, { ...toS3, storage: waiting });
    expect(await fail(run)).toMatch(new RegExp(`^${lost}`));
  });
});

it("the schedule counts each failure, stays reachable, and publishes once the database answers again", async () => {
  const config = readRefreshConfig({
    DATABASE_URL: database().connectionString,
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
  await databaseWire.hold();
  const run = schedule.refreshNow();
  await expect.poll(() => count("failed")).toBeGreaterThan(0);
  await databaseWire.pass();
  await run;
  expect(await count("published")).toBe(1);
  await schedule.close();
});
