import { execFile } from "node:child_process";
import { chmod, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { withPublisher } from "../../scripts/refresh/connect-publisher.ts";
import { compareWithLedger } from "../../scripts/refresh/ledger.ts";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { preparePostgres } from "../../scripts/servers/postgres.ts";
import { startProgram } from "../../scripts/servers/run-program.ts";
import { runTransaction } from "../../scripts/sql/run-transaction.ts";
import { connect } from "../../shared/connect.ts";
import { send } from "../report-service/http.ts";
import { downloads, type Parts, reportId, startParts } from "../report-service/parts.ts";
import { publishSample, useOwnServer } from "../scripts/deploy/support.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { queryOn } from "../support/query-on.ts";
import { type ScratchService, startScratchService } from "../support/scratch-service.ts";

// A server whose commits wait for a replica (synchronous_standby_names): reads never wait for it, and calls and redemptions
// get 503 (from PostgREST 504, see request.refuse) while it is away.

const own = useOwnServer(({ url }) => deployDatabase(url));
const query = async (sql: string, values: unknown[] = []) => (await own.client.query(sql, values)).rows;
const patience = { timeout: 15_000 };
let service: ScratchService;
beforeAll(async () => {
  await publishSample(own.client);
  service = await startScratchService(own.url);
});
afterAll(() => service.stop());

async function setStandbys(names: string): Promise<void> {
  await query(`alter system set synchronous_standby_names = '${names}'`);
  await query("select pg_reload_conf()");
  const setting = async () => (await query("show synchronous_standby_names"))[0].synchronous_standby_names;
  await vi.waitUntil(async () => (await setting()) === names, patience);
}

async function issueKeys(count: number, tier = "individual"): Promise<string[]> {
  const rows = await query(
    `select encode(sha256(convert_to(issued.api_key, 'UTF8')), 'hex') as hash
     from generate_series(1, $1) as n, access.issue_key($2, 'a' || n || '@example.gov') as issued`,
    [count, tier],
  );
  return rows.map(({ hash }) => hash);
}

async function issueTribalKey(): Promise<string> {
  const [row] = await query(
    `select encode(sha256(convert_to(api_key, 'UTF8')), 'hex') as hash
     from access.request_agreement('Tribe', 'a@example.gov') as agreement
     cross join lateral access.decide_agreement(agreement, 'approved', 'Ada', 'Agency', 'a@example.gov')
     cross join lateral access.issue_key('tribal', 'a@example.gov', key_agreement_id => agreement)`,
  );
  return row.hash;
}

/** Sends ten reads with each key, eight at a time. Returns how many got 200 within 30 s. */
async function countAnswered(hashes: string[]): Promise<number> {
  // A key may not have more requests at a time than its tier allows.
  const left = Array.from({ length: 10 }, () => hashes).flat();
  let answered = 0;
  const work = async () => {
    for (let hash = left.pop(); hash !== undefined; hash = left.pop()) {
      const read = service.request("/general?limit=1", { headers: { "x-api-key-sha256": hash } });
      const { status } = await read.catch(() => ({ status: 0 }));
      if (status === 200) answered += 1;
    }
  };
  await Promise.race([Promise.all(Array.from({ length: 8 }, work)), sleep(30_000)]);
  left.length = 0;
  return answered;
}

const readPosition = async () => (await query("select pg_current_wal_insert_lsn()::text as at"))[0].at;
const countWaiting = async (application: string) =>
  (
    await query(
      "select count(*)::int as waiting from pg_stat_activity where wait_event = 'SyncRep' and application_name = $1",
      [application],
    )
  )[0].waiting;

/** Runs statements whose commit then waits for a replica, until `end` is called. */
async function waitInCommit(run: (client: Client) => Promise<unknown>) {
  const client = new Client({ connectionString: own.url, application_name: "waiting in commit" });
  client.on("error", () => {});
  await client.connect();
  const running = run(client).catch(() => {});
  await expect.poll(() => countWaiting("waiting in commit")).toBe(1);
  return async () => {
    await query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'waiting in commit'",
    );
    await running;
    await client.end().catch(() => {});
  };
}

describe("without a replica", () => {
  let [hashes, tribal, parts]: [string[], string, Parts | undefined] = [[], "", undefined];
  beforeAll(async () => {
    parts = await startParts({}, own.url);
    tribal = await issueTribalKey();
    hashes = await issueKeys(100);
    // The first reads of these rows after a checkpoint write WAL (hint bits, with data checksums).
    await query("checkpoint");
    await setStandbys("nobody");
  });
  afterAll(async () => {
    await setStandbys("");
    await parts?.close();
  });

  it("1,000 of 1,000 reads are answered right after loading, although they write WAL", async () => {
    const before = await readPosition();
    expect(await countAnswered(hashes)).toBe(1000);
    expect(await readPosition()).not.toBe(before);
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    [
      "another session's commit has the lock of NOTIFY",
      (client) =>
        client.query("begin; select pg_logical_emit_message(true, 'test', ''); notify anything; commit"),
    ],
    [
      "a deployment or publication waits",
      (client) =>
        runTransaction(client, () => client.query("alter table disclosed.general set (fillfactor = 100)")),
    ],
  ])("reads are answered while %s", async (_what, run) => {
    const end = await waitInCommit(run);
    expect(await countAnswered(hashes.slice(0, 20))).toBe(200);
    expect(await countWaiting("waiting in commit")).toBe(1);
    await end();
  });

  it("a call gets 504 from PostgREST and creates no token", async () => {
    const answer = await requestAccess(tribal);
    expect([answer.status, answer.json.code]).toEqual([504, "writes_not_confirmed"]);
    expect(await countTokens()).toBe(0);
  });

  it("a redemption gets 503, and the token works once there is a replica", async () => {
    await setStandbys("");
    const token = (await parts?.tokens.issue()) ?? "";
    await setStandbys("nobody");
    const { status, body } = await redeem(token);
    expect([status, body]).toEqual([503, expect.stringContaining("The token was not used.")]);
    await setStandbys("");
    expect((await redeem(token)).status).toBe(302);
    await setStandbys("nobody");
  });

  it("a redemption gets 503 if the replica leaves while it commits, and no link", async () => {
    await setStandbys("");
    const token = (await parts?.tokens.issue()) ?? "";
    await query("alter table access.access_tokens disable trigger access_tokens_are_replicated");
    await setStandbys("nobody");
    const { status, headers, body } = await redeem(token);
    expect([status, headers.location, body]).toEqual([
      503,
      undefined,
      expect.stringContaining("The token may have been used."),
    ]);
    await query("alter system reset synchronous_standby_names");
    await query("select pg_reload_conf()");
    await query("alter table access.access_tokens enable trigger access_tokens_are_replicated");
    await setStandbys("nobody");
  });

  it("a refresh says once that it waits for a replica, and goes on when there is one", async () => {
    const lines: string[] = [];
    const waiting = withPublisher(
      { connectionString: own.url },
      (client) => client.query("select pg_logical_emit_message(true, 'test', '')"),
      { check: 50, silence: 60_000 },
      (line) => lines.push(line),
    );
    await expect.poll(() => lines).toEqual([expect.stringMatching(/^A commit is waiting for a replica\./)]);
    await sleep(300);
    await setStandbys("");
    await waiting;
    await setStandbys("nobody");
    expect(lines).toHaveLength(1);
  });

  it("the use of keys is recorded all the same", async () => {
    const [{ record_key_use: recorded }] = await query("select access.record_key_use($1)", [
      hashes.slice(0, 5).map((hash) => Buffer.from(hash, "hex")),
    ]);
    expect(recorded).toBe(5);
  });

  const redeem = (token: string) => send(parts?.url ?? "", `${downloads}/${token}`);
});

const countTokens = async () =>
  (
    await query("select count(*)::int as count from access.access_tokens where report_id <> $1", [reportId])
  )[0].count;

async function requestAccess(hash: string) {
  const [{ report_id }] = await query("select report_id from suppressed.general limit 1");
  return await service.request("/rpc/request_file_access", {
    method: "POST",
    headers: {
      "x-api-key-sha256": hash,
      "content-profile": "admin_api_v1_1_0",
      "content-type": "application/json",
    },
    body: JSON.stringify({ report_id }),
  });
}

describe("with a replica", () => {
  let standby: Awaited<ReturnType<typeof startStandby>>;
  let tribal: string;
  beforeAll(async () => {
    tribal = await issueTribalKey();
    standby = await startStandby("standby");
    await setStandbys("standby");
  });
  afterAll(async () => {
    await setStandbys("");
    await standby.stop();
  });

  it("a call gets its token, also if the owner may not see the state of replication", async () => {
    expect((await requestAccess(tribal)).status).toBe(200);
    await query(
      "create role plain; grant usage on schema access, request to plain; grant execute on function request.refuse to plain; alter function access.require_confirmed_writes owner to plain",
    );
    expect((await requestAccess(tribal)).status).toBe(200);
    await query("alter function access.require_confirmed_writes owner to postgres");
  });

  it("a call gets 504 from PostgREST if commits wait for more replicas than there are", async () => {
    for (const names of ["ANY 2 (standby, other)", "2 (standby, other)", "FIRST 2 (standby, other)"]) {
      await setStandbys(names);
      expect([names, (await requestAccess(tribal)).status]).toEqual([names, 504]);
    }
    await setStandbys("standby");
  });

  it("answers no requests once its primary is found to be a restored database", async () => {
    const isOn = async () =>
      (await queryOn(standby.url, "select publication.is_switched_on() as is_on"))[0]?.is_on;
    expect(await isOn()).toBe(true);
    await query("create table claim as select server, server_started_at from ledger.claim");
    await query("update ledger.claim set server = 'another'");
    const compare = withPublisher({ connectionString: own.url }, (client) => compareWithLedger(client));
    await expect(compare).rejects.toThrow("This database was restored, or copied from another server.");
    await expect.poll(isOn).toBe(false);
    await query("update ledger.claim set (server, server_started_at) = (select claim.* from claim)");
    await expect.poll(isOn).toBe(true);
  });

  it("a call gets 504 from PostgREST while the replica does not answer, and a token afterwards", async () => {
    const count = await countTokens();
    process.kill(standby.receiver, "SIGSTOP");
    expect((await requestAccess(tribal)).status).toBe(504);
    expect(await countTokens()).toBe(count);
    process.kill(standby.receiver, "SIGCONT");
    await expect.poll(async () => (await requestAccess(tribal)).status).toBe(200);
  });
});

/** Copies the server while it runs, and starts the copy as its replica. */
async function startStandby(name: string) {
  const directory = await makeDirectory();
  const data = path.join(directory, "postgres");
  const { hostname, port: primaryPort, password, username } = new URL(own.url);
  const [{ data_directory: source }] = await query("show data_directory");
  await query("select pg_backup_start('standby', true)");
  await chmod(directory, 0o711);
  await promisify(execFile)("cp", ["-a", source, data]);
  await rm(path.join(data, "postmaster.pid"));
  const [{ labelfile }] = await query("select labelfile from pg_backup_stop()");
  for (const [name, text] of [
    ["backup_label", labelfile],
    ["standby.signal", ""],
  ] as const) {
    await writeFile(path.join(data, name), text);
    await chmod(path.join(data, name), 0o666);
  }
  await writeFile(
    path.join(data, "postgresql.auto.conf"),
    `primary_conninfo = 'host=${hostname} port=${primaryPort} user=${username} password=${password} application_name=${name}'\n`,
  );
  const port = await findFreePort();
  const { program, url } = await preparePostgres({
    directory,
    port,
    superuserPassword: decodeURIComponent(password),
    memory: 256,
    isThrownAway: true,
  });
  const child = startProgram(program);
  await child.ready;
  const client = await connect(url, "test");
  const findReceiver = async () =>
    (await client.query("select pid from pg_stat_wal_receiver where status = 'streaming'")).rows[0]?.pid;
  const receiver: number = await vi.waitUntil(findReceiver, patience);
  await client.end();
  const stop = async () => {
    await child.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { url: new URL(new URL(own.url).pathname, url).href, receiver, stop };
}
