import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { withPublisher } from "../../../../scripts/refresh/connect-publisher.ts";
import { explainFailure } from "../../../../scripts/refresh/explain-failure.ts";
import { type RefreshOptions, refreshDataSet } from "../../../../scripts/refresh/refresh-data-set.ts";
import type { SessionLimits } from "../../../../scripts/refresh/watch-session.ts";
import type { StorageLimits } from "../../../../shared/objects/objects.ts";
import { type Relay, startRelay } from "../../../support/relay.ts";
import { type S3Server, startS3Server } from "../../../support/s3-server.ts";
import { useRefresh } from "./refresh.ts";
import { submissions } from "./source-files.ts";

/** Short limits for a session that a test disturbs. */
export const session: SessionLimits = { check: 100, silence: 4_000 };
/** Short limits for storage. */
export const limits: StorageLimits = { connect: 300, answer: 300, idle: 300, total: 3_000, tries: 3 };
const keys = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };

/** The beginning of the reason if the database fails. */
export const lost = "PostgreSQL was stopped, or the connection to it was lost: ";
/** The rest of the reason if the connection is silent. Which of the two is noticed first depends on what was last sent. */
export const silent = "PostgreSQL (does not answer|did not receive the statement)";

/** Provides a database with a data set, and storage, whose connections tests can pause or cut. */
export function useFaults() {
  const here = useRefresh();
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
    Object.assign(s3, { stalled: null, failure: null, hungKey: null });
    await Promise.all([databaseWire.pass(), storageWire.pass()]);
  });
  afterAll(() => Promise.all([s3.close(), databaseWire.refuse(), storageWire.refuse()]));

  const databaseUrl = () => Object.assign(new URL(here.database.url), { port: databaseWire.port }).href;
  const storage = () => ({
    region: "us-gov-west-1",
    endpoint: `http://127.0.0.1:${storageWire.port}`,
    forcePathStyle: true,
    credentials: keys,
    limits,
  });
  const refresh = (options: Partial<RefreshOptions> = {}, own?: SessionLimits) => {
    const common = { from: here.directory, publicData: here.publicData, storage: storage(), force: true };
    const run = withPublisher(
      { connectionString: databaseUrl() },
      (client) => refreshDataSet(client, { ...common, ...options }),
      own,
    );
    return run.then(({ outcome }) => outcome, explainFailure);
  };
  const readState = async () => [
    await here.liveId(),
    await readFile(path.join(here.publicData, "manifest.json"), "utf8"),
  ];
  const sessions =
    "from pg_stat_activity where application_name = 'refresh' and datname = current_database()";
  return {
    here,
    databaseUrl,
    storage,
    databaseWire: () => databaseWire,
    storageWire: () => storageWire,
    s3: () => s3,
    /** Runs a refresh. Returns its outcome, or the reason for which it failed. */
    refresh,
    /** Runs a refresh that `act` disturbs when it reports the beginning of a phase. */
    disturb: (phase: string, act: () => unknown, options: Partial<RefreshOptions> = {}) => {
      let acted: unknown;
      const report = (line: string) => {
        if (line.startsWith(phase)) acted ??= act();
      };
      return refresh({ ...options, report }, session).then(async (result) => {
        expect(acted, `the refresh did not reach “${phase}”: ${result}`).toBeDefined();
        await acted;
        return result;
      });
    },
    terminate: () => here.select(`select pg_terminate_backend(pid) ${sessions}`),
    listSessions: () => here.list(`select pid ${sessions}`),
    /** Cancels the refresh's statement once it sleeps. */
    cancelSleep: () =>
      expect
        .poll(() => here.list(`select pg_cancel_backend(pid) ${sessions} and wait_event = 'PgSleep'`))
        .toEqual([true]),
    /** Runs a refresh that must fail, and checks what it leaves. Returns its reason. */
    fail: async (run: () => Promise<string>): Promise<string> => {
      const before = await readState();
      const reason = await run();
      await databaseWire.pass();
      expect(await readState()).toEqual(before);
      const locks = `select count(*)::int from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(() => here.list(locks)).toEqual([0]);
      await expect.poll(() => here.list(`select count(*)::int ${sessions}`)).toEqual([0]);
      return reason;
    },
  };
}
