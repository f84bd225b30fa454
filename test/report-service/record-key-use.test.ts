import { createHash } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { keyUsePath } from "../../report-service/record-key-use.ts";

import type { RunningApp } from "../../shared/web/start-app.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";
import { type Parts, startParts } from "./parts.ts";

const database = useDeployedDatabase();
let parts: Parts;
let service: RunningApp;
beforeAll(async () => {
  const metrics = { host: "127.0.0.1", port: 0 };
  parts = await startParts({}, database.url);
  service = await parts.startAnother({ metrics });
});

const ask = async (sql: string, values: unknown[] = []) =>
  Object.values((await database.client.query(sql, values)).rows[0])[0];
const issueKey = async () => {
  const key = String(await ask("select api_key from access.issue_key('individual', 'a@example.gov')"));
  return createHash("sha256").update(key).digest("hex");
};
const isRecorded = (hash: string) =>
  ask(
    `select last_used_on is not distinct from (now() at time zone 'UTC')::date
     from access.api_keys where key_sha256 = decode($1, 'hex')`,
    [hash],
  );
/** Tells the report service, on its internal port, which keys are used. Returns the status. */
const tell = async (body: string, url = new URL(keyUsePath, service.metricsUrl)) =>
  (await fetch(url, { method: "POST", body })).status;

it("records which keys are used, and ignores what is not the hash of a key", async () => {
  const [one, other, unused] = [await issueKey(), await issueKey(), await issueKey()];
  expect(await tell([one, "no hash", "", "0".repeat(64), other].join("\n"))).toBe(200);
  expect([await isRecorded(one), await isRecorded(other), await isRecorded(unused)]).toEqual([
    true,
    true,
    false,
  ]);
});

it("does not record it on the port that clients reach", async () => {
  const hash = await issueKey();
  expect(await tell(hash, new URL(keyUsePath, service.url))).toBe(405);
  expect(await isRecorded(hash)).toBe(false);
});

it("refuses a message that is too long", async () => {
  const hash = await issueKey();
  expect(await tell(`${hash}\n${"0".repeat(65_536)}`)).toBe(413);
  expect(await isRecorded(hash)).toBe(false);
});

it("answers 503 while the database is unreachable, and records again afterwards", async () => {
  const hash = await issueKey();
  await parts.databaseWire.refuse();
  expect([await tell(hash), await tell(hash)]).toEqual([503, 503]);
  await parts.databaseWire.pass();
  await expect.poll(() => tell(hash)).toBe(200);
  expect(await isRecorded(hash)).toBe(true);
  const lines = parts.readLog().match(/cannot record key use|recording key use again/g);
  expect(lines).toEqual(["cannot record key use", "recording key use again"]);
});
