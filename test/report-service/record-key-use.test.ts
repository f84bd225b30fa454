import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { recordKeyUse } from "../../report-service/record-key-use.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";
import { serviceDatabaseUrl } from "./parts.ts";
import { type Relay, startRelay } from "./relay.ts";

const database = useDeployedDatabase();
let wire: Relay;
let address: string;
let recorder: ReturnType<typeof recordKeyUse>;

beforeAll(async () => {
  wire = await startRelay(Number(new URL(database.url).port));
  address = serviceDatabaseUrl(database.url, wire);
  recorder = start();
});
afterAll(async () => {
  await recorder.close();
  await wire.refuse();
});

const start = () => recordKeyUse({ connectionString: address }, pino({ level: "silent" }));
const countListeners = async () => {
  const { rowCount } = await database.client.query(
    "select from pg_stat_activity where application_name = 'report-service (use of keys)'",
  );
  return rowCount;
};

async function issueKey(): Promise<string> {
  const { rows } = await database.client.query(
    "select api_key_id as id from access.issue_key('individual', 'a@example.gov')",
  );
  return rows[0].id;
}
const announce = (payload: string) =>
  database.client.query("select pg_notify('api_key_used', $1)", [payload]);

/** A key's requests announce its use until that is recorded. */
async function expectRecorded(id: string, announces = true): Promise<void> {
  const isRecorded = async () => {
    if (announces) await announce(id);
    const { rows } = await database.client.query(
      "select last_used_on = (now() at time zone 'UTC')::date as today from access.api_keys where id = $1",
      [id],
    );
    return rows[0].today;
  };
  await expect.poll(isRecorded, { timeout: 15_000, interval: 200 }).toBe(true);
}

it("records the use of the keys that are announced, whatever else is announced", async () => {
  const ids = await Promise.all([issueKey(), issueKey()]);
  await expectRecorded(ids[0]);
  await announce("not an ID");
  await announce(ids[1]);
  await expectRecorded(ids[1], false);
});

it("continues after the database was unreachable", async () => {
  await wire.refuse();
  await expect.poll(countListeners).toBe(0);
  await wire.pass();
  await expectRecorded(await issueKey());
});

it("records what it has heard before it ends", async () => {
  const id = await issueKey();
  await expectRecorded(await issueKey());
  await announce(id);
  // The notification may still be on its way to the listener.
  await database.client.query("select pg_sleep(0.1)");
  await recorder.close();
  await expectRecorded(id, false);
  await expect.poll(countListeners).toBe(0);
  recorder = start();
});
