import { describe, expect, it } from "vitest";
import { queryValue, request } from "../../support/target.ts";
import { agreements, approveAgreement, issueKey, keys } from "./support.ts";

// How the API answers after keys change, and how it records that keys are used.

const get = async (key: string, path = "/general?limit=1") =>
  (await request(path, { key: { value: key } })).status;

describe("a key", () => {
  it.each([
    ["revoke", "", 401],
    ["rotate", "", 200],
    ["rotate", "--overlap 0", 401],
  ])("after %s %s, gets %i at once, and its replacement, if any, gets 200", async (command, args, status) => {
    const { id, key } = await issueKey();
    expect(await get(key)).toBe(200);
    const { stdout } = await keys(`${command} ${id} ${args}`);
    expect(await get(key)).toBe(status);
    const [replacement] = /individual_\w+/.exec(stdout) ?? [];
    expect(await get(replacement ?? "")).toBe(command === "rotate" ? 200 : 401);
  });

  it("sees suppressed submissions under an agreement, until the agreement is revoked", async () => {
    const agreement = await approveAgreement();
    const { key } = await issueKey("tribal", agreement);
    const suppressed = "/general?is_public=eq.false&auditee_uei=not.is.null&limit=1";
    expect((await request(suppressed, { key: { value: key } })).json).toHaveLength(1);
    await agreements(`revoke ${agreement}`);
    expect(await get(key)).toBe(401);
  });
});

describe("the last use of a key", () => {
  const lastUse = (id: string) =>
    queryValue<string | null>("select last_used_on::text from access.api_keys where id = $1", [id]);

  it.each([
    ["200", "/general?limit=1"],
    ["404", "/general?report_id=eq.none"],
  ])("is recorded soon after a request that gets %s", async (status, path) => {
    const { id, key } = await issueKey();
    expect([await lastUse(id), await get(key, path)]).toEqual([null, Number(status)]);
    await expect.poll(() => lastUse(id)).toBe(new Date().toISOString().slice(0, 10));
  });
});
