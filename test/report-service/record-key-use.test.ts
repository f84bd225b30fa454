import { beforeAll, expect, it } from "vitest";
import { useDeployedDatabase } from "../support/scratch-database.ts";
import { type Parts, startParts } from "./parts.ts";

const database = useDeployedDatabase();
let parts: Parts;
beforeAll(async () => {
  parts = await startParts({}, database.url);
});

const ask = async (sql: string, values: string[] = []) =>
  Object.values((await database.client.query(sql, values)).rows[0])[0];
const issueKey = async () =>
  String(await ask("select api_key_id from access.issue_key('individual', 'a@example.gov')"));
const announce = (payload: string) => ask("select pg_notify('api_key_used', $1)", [payload]);
const countListeners = () =>
  ask("select count(*)::int from pg_stat_activity where application_name = 'report-service (use of keys)'");

/** Waits until a key's use is recorded. Until then, announces it again and again, as requests do. */
async function expectRecorded(id: string, announces = true): Promise<void> {
  const isRecorded = async () => {
    if (announces) await announce(id);
    const today = "last_used_on = (now() at time zone 'UTC')::date";
    return await ask(`select ${today} from access.api_keys where id = $1`, [id]);
  };
  await expect.poll(isRecorded, { interval: 200 }).toBe(true);
}

it("records the use of announced keys, and ignores notifications that are not key IDs", async () => {
  const [one, other] = [await issueKey(), await issueKey()];
  await expectRecorded(one);
  await announce("not an ID");
  await announce(other);
  await expectRecorded(other, false);
});

it("resumes once the database is reachable again", async () => {
  await parts.databaseWire.refuse();
  await expect.poll(countListeners).toBe(0);
  await parts.databaseWire.pass();
  await expectRecorded(await issueKey());
});

it("records pending uses before it stops", async () => {
  const id = await issueKey();
  await announce(id);
  // The notification may still be on its way to the listener.
  await ask("select pg_sleep(0.5)");
  await parts.close();
  await expectRecorded(id, false);
  await expect.poll(countListeners).toBe(0);
});
