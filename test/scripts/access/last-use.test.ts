import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { query, request } from "../../support/target.ts";
import { ask, issueKey, listen, tryAs } from "./support.ts";

const record = (ids: string[]) => ask<number>("select access.record_key_use($1)", [ids]);
const lastUse = (id: string) =>
  ask<string | null>("select last_used_on::text from access.api_keys where id = $1", [id]);
const today = () => new Date().toISOString().slice(0, 10);

const get = (key: string, path = "/general?limit=1") => request(path, { key: { value: key } });

let notifications: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  notifications = await listen("api_key_used");
});
afterAll(() => notifications.close());

/** What is heard of a key, however many other things are. */
const heardOf = async (id: string) =>
  (await notifications.heard()).filter((line) => line === `api_key_used ${id}`).length;

describe("the use of a key", () => {
  it("is notified by a read, whose transaction can write nothing", async () => {
    const { id, key } = await issueKey();
    // PostgreSQL refuses this request, so it does not count as a use.
    expect((await get(key, "/general?report_id=eq.none")).status).toBe(404);
    expect(await heardOf(id)).toBe(0);
    expect((await get(key)).status).toBe(200);
    expect(await heardOf(id)).toBe(1);
  });

  it("is not notified again once it is written down for the day", async () => {
    const { id, key } = await issueKey();
    await record([id]);
    for (let count = 0; count < 3; count += 1) expect((await get(key)).status).toBe(200);
    expect(await heardOf(id)).toBe(0);
  });

  it("is notified again on another day", async () => {
    const { id, key } = await issueKey();
    await query("update access.api_keys set last_used_on = $2 where id = $1", [id, "2026-01-01"]);
    expect((await get(key)).status).toBe(200);
    expect(await heardOf(id)).toBe(1);
  });

  it("is written down soon after a request", async () => {
    const { id, key } = await issueKey();
    expect(await lastUse(id)).toBeNull();
    expect((await get(key)).status).toBe(200);
    await expect.poll(() => lastUse(id), { timeout: 5000 }).toBe(today());
  });

  it("is written down as the day, in UTC, for those keys that have it not yet", async () => {
    const keys = await Promise.all([issueKey(), issueKey(), issueKey()]);
    const [first, second, third] = keys.map(({ id }) => id) as [string, string, string];
    await query("update access.api_keys set last_used_on = '2026-01-01' where id = $1", [second]);
    expect(await record([first, second, "00000000-0000-4000-8000-000000000000"])).toBe(2);
    expect(await lastUse(first)).toBe(today());
    expect(await lastUse(second)).toBe(today());
    expect(await lastUse(third)).toBeNull();
    // At any time it is another day in one of these.
    for (const timezone of ["Etc/GMT+12", "Etc/GMT-14"]) {
      const [row] = await tryAs<{ day: string }>(
        "postgres",
        `set local timezone = '${timezone}'`,
        ["select access.record_key_use(array[$1::uuid])", [third]],
        ["select last_used_on::text as day from access.api_keys where id = $1", [third]],
      );
      expect(row?.day, timezone).toBe(today());
    }
    expect(await record([first, second, third])).toBe(1);
  });

  it("is recorded by the report service and no other role", async () => {
    await tryAs("report_service", "select access.record_key_use(array[]::uuid[])");
    for (const role of ["api_public", "api_tribal", "gateway", "publisher"]) {
      await expect(tryAs(role, "select access.record_key_use(array[]::uuid[])"), role).rejects.toThrow(
        /permission denied/,
      );
    }
  });

  it("is written down for a key that was revoked meanwhile", async () => {
    const { id } = await issueKey();
    await query("select access.revoke_key($1)", [id]);
    expect(await record([id])).toBe(1);
  });

  it("is no event, unlike a revocation", async () => {
    const { id } = await issueKey();
    const countEvents = () => ask("select count(*)::int from access.events where subject_id = $1", [id]);
    await record([id]);
    expect(await countEvents()).toBe(1);
    await query("select access.revoke_key($1)", [id]);
    expect(await countEvents()).toBe(2);
  });
});
