import { describe, expect, it } from "vitest";
import { request } from "../../support/target.ts";
import { agreements, keys, makeOwner } from "./support.ts";

// What the command line does, seen by a client of the API.

const get = async (key: string) => (await request("/general?limit=1", { key: { value: key } })).status;

async function json(run: ReturnType<typeof keys>) {
  const { code, stdout, stderr } = await run;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}
const issue = (args = "--tier individual") => json(keys(`issue --owner ${makeOwner()} ${args} --json`));

describe("a key of the command line", () => {
  it("works on the next request, and fails on the next request after it is revoked", async () => {
    const { id, key } = await issue();
    expect(await get(key)).toBe(200);
    await json(keys(`revoke ${id} --json`));
    expect(await get(key)).toBe(401);
  });

  it("works on beside the key that replaces it", async () => {
    const old = await issue();
    const made = await json(keys(`rotate ${old.id} --json`));
    expect(await get(made.key)).toBe(200);
    expect(await get(old.key)).toBe(200);
  });

  it("is refused at once when it is rotated without an overlap", async () => {
    const old = await issue();
    expect(await get(old.key)).toBe(200);
    const made = await json(keys(`rotate ${old.id} --overlap 0 --json`));
    expect(await get(old.key)).toBe(401);
    expect(await get(made.key)).toBe(200);
  });

  it("sees suppressed submissions under an agreement, and is refused at once when that is revoked", async () => {
    const agreement = await json(
      agreements("request --organisation 'Example Nation' --contact office@example.gov --json"),
    );
    await json(
      agreements(`approve ${agreement.id} --official Ada --agency Agency --email ada@example.gov --json`),
    );
    const { key } = await issue(`--tier tribal --agreement ${agreement.id}`);
    expect(await get(key)).toBe(200);
    const { json: rows } = await request("/general?is_public=eq.false&auditee_uei=not.is.null&limit=1", {
      key: { value: key },
    });
    expect(rows).toHaveLength(1);
    await json(agreements(`revoke ${agreement.id} --json`));
    expect(await get(key)).toBe(401);
  });
});
