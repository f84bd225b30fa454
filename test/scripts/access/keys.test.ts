import { describe, expect, it } from "vitest";
import { query } from "../../support/target.ts";
import { approveAgreement, ask, issueKey, makeOwner, refusal, tryAs } from "./support.ts";

describe("a key", () => {
  it.each([
    "id = gen_random_uuid()",
    "tier = 'demo'",
    "owner_email = 'other@example.gov'",
    "key_sha256 = sha256('other')",
    "key_prefix = 'others'",
    "created_at = created_at - interval '1 day'",
    "agreement_id = (select id from access.tribal_access_agreements limit 1)",
    "replaces_id = id",
  ])("keeps its columns: %s is refused", async (change) => {
    const { id } = await issueKey();
    expect(await refusal([`update access.api_keys set ${change} where id = $1`, [id]])).toBe(
      "Only the label, the end and the last use of a key may change.",
    );
  });

  it("keeps its agreement, if it is Tribal", async () => {
    const { id } = await issueKey("tribal", await approveAgreement());
    const other = await approveAgreement();
    expect(
      await refusal(["update access.api_keys set agreement_id = $2 where id = $1", [id, other]]),
    ).toMatch(/Only the label/);
  });

  it("may get another label and an earlier end", async () => {
    const { id } = await issueKey();
    const update = (change: string): [string, unknown[]] => [
      `update access.api_keys set ${change} where id = $1`,
      [id],
    ];
    await tryAs(
      "postgres",
      update("label = 'other'"),
      update("expires_at = now() + interval '2 days'"),
      update("expires_at = now() + interval '1 day'"),
    );
  });

  it.each(["now() + interval '3 days'", "null"])("is not prolonged to %s", async (end) => {
    const { id } = await issueKey();
    expect(
      await refusal(
        ["update access.api_keys set expires_at = now() + interval '2 days' where id = $1", [id]],
        [`update access.api_keys set expires_at = ${end} where id = $1`, [id]],
      ),
    ).toMatch(/not put off/);
  });

  it.each([
    "revoked_at = null",
    "revoked_at = now() + interval '1 day'",
    "label = 'other'",
    "expires_at = now()",
  ])("stays as it is once it is revoked: %s is refused", async (change) => {
    const { id } = await issueKey();
    await query("select access.revoke_key($1)", [id]);
    expect(await refusal([`update access.api_keys set ${change} where id = $1`, [id]])).toMatch(
      /cannot be undone/,
    );
  });

  it("is revoked once: a second time changes nothing", async () => {
    const { id } = await issueKey();
    const first = await ask<Date>("select access.revoke_key($1)", [id]);
    expect(await ask<Date>("select access.revoke_key($1)", [id])).toEqual(first);
  });

  it.each(["delete from access.api_keys", "truncate access.api_keys cascade"])(
    "is never removed: %s",
    async (statement) => {
      expect(await refusal(statement)).toMatch(/keeps its rows/);
    },
  );

  it("is active in the overview exactly when it opens the service", async () => {
    const revoked = await issueKey();
    await query("select access.revoke_key($1)", [revoked.id]);
    const expired = await issueKey();
    await query("update access.api_keys set expires_at = now() where id = $1", [expired.id]);
    const [row] = await query<{ same: boolean; all: string[] }>(
      `select bool_and((status = 'active') = (active_keys.id is not null)) as same, array_agg(distinct status) as all
       from access.key_overview left join access.active_keys using (id)`,
    );
    expect(row?.same).toBe(true);
    expect(row?.all).toEqual(expect.arrayContaining(["active", "expired", "revoked"]));
  });
});

describe("rotation", () => {
  const rotate = async (id: string, overlap = "7 days") => {
    const [row] = await query<{ api_key_id: string; api_key: string }>(
      "select * from access.rotate_key($1, $2)",
      [id, overlap],
    );
    return { id: row?.api_key_id ?? "", key: row?.api_key ?? "" };
  };

  it("makes another key of the same tier, owner, label and agreement", async () => {
    const old = await issueKey("tribal", await approveAgreement());
    const made = await rotate(old.id);
    expect(made.key).not.toBe(old.key);
    const what = "select tier, owner_email, label, agreement_id from access.api_keys where id = $1";
    expect(await query(what, [made.id])).toEqual(await query(what, [old.id]));
    const [row] = await query(
      `select new.replaces_id as replaces, new.expires_at = new.created_at + interval '6 months' as renewed,
         old.expires_at = new.created_at + interval '7 days' as overlap
       from access.api_keys as new join access.api_keys as old on old.id = new.replaces_id where new.id = $1`,
      [made.id],
    );
    expect(row).toEqual({ replaces: old.id, renewed: true, overlap: true });
  });

  it("does not prolong the old key", async () => {
    const old = await issueKey();
    await query("update access.api_keys set expires_at = created_at + interval '2 days' where id = $1", [
      old.id,
    ]);
    const made = await rotate(old.id);
    const [row] = await query(
      `select old.expires_at = old.created_at + interval '2 days' as kept,
         new.expires_at = new.created_at + interval '2 days' as as_long
       from access.api_keys as new join access.api_keys as old on old.id = new.replaces_id where new.id = $1`,
      [made.id],
    );
    expect(row).toEqual({ kept: true, as_long: true });
  });

  it("is refused while the key that replaces it works, and possible again once that is revoked", async () => {
    const old = await issueKey();
    const made = await rotate(old.id);
    expect(await refusal(["select access.rotate_key($1)", [old.id]])).toMatch(/rotated already/);
    await query("select access.revoke_key($1)", [made.id]);
    expect((await rotate(old.id)).key).not.toBe(made.key);
  });

  it.each([
    ["revoked", "update access.api_keys set revoked_at = now() where id = $1"],
    ["expired", "update access.api_keys set expires_at = now() where id = $1"],
    ["agreement revoked", "select access.revoke_agreement(agreement_id) from access.api_keys where id = $1"],
  ])("is refused for a key that is not active (%s)", async (status, sql) => {
    const { id } = await issueKey("tribal", await approveAgreement());
    await query(sql, [id]);
    expect(await refusal(["select access.rotate_key($1)", [id]])).toContain(`not active (${status})`);
  });

  it.each(["-1 second", null])("is refused with the overlap %s", async (overlap) => {
    const { id } = await issueKey();
    expect(await refusal(["select access.rotate_key($1, $2)", [id, overlap]])).toMatch(/negative/);
  });
});

describe("what names a key", () => {
  it.each([
    ["its ID", (id: string) => id],
    ["its ID in capitals", (id: string) => id.toUpperCase()],
    ["the beginning of its ID", (id: string) => id.slice(0, 13)],
    ["its first characters after the tier", (_id: string, key: string) => key.split("_")[1]?.slice(0, 6)],
    ["the tier and these", (_id: string, key: string) => key.slice(0, "individual_".length + 6)],
  ])("is %s", async (_what, name) => {
    const { id, key } = await issueKey();
    expect(await ask("select access.resolve_key($1)", [name(id, key)])).toBe(id);
  });

  it.each(["", "a", "zzzzzz", "%%%%%%", "______"])("is not %j", async (name) => {
    expect(await refusal(["select access.resolve_key($1)", [name]])).toBe(`There is no key "${name}".`);
  });

  it("must not name two", async () => {
    const insert = `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix) values ('individual', $1, sha256($2), 'twice!')`;
    const message = await refusal(
      [insert, [makeOwner(), "first"]],
      [insert, [makeOwner(), "second"]],
      "select access.resolve_key('twice!')",
    );
    expect(message).toBe('"twice!" could be any of 2 keys.');
  });
});
