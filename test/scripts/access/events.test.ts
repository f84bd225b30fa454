import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { query } from "../../support/target.ts";
import { approveAgreement, issueKey, refusal, tryAs } from "./support.ts";

interface Event extends Record<string, unknown> {
  subject: string;
  action: string;
  operator: string | null;
  database_role: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

const eventsOf = (id: string) =>
  query<Event>(
    "select subject, action, operator, database_role, before, after from access.events where subject_id = $1 order by id",
    [id],
  );

describe("an event", () => {
  it("is written for each change of a key, with what it was and what it became", async () => {
    const { id } = await issueKey();
    await query("update access.api_keys set label = 'other' where id = $1", [id]);
    await query("select access.revoke_key($1)", [id]);
    const events = await eventsOf(id);
    expect(events.map(({ subject, action }) => `${subject} ${action}`)).toEqual([
      "api_keys insert",
      "api_keys update",
      "api_keys update",
    ]);
    const [issued, labelled, revoked] = events;
    expect(issued?.before).toBeNull();
    expect(issued?.after).toMatchObject({ id, tier: "individual", label: "test", revoked_at: null });
    expect(labelled?.before).toEqual(issued?.after);
    expect(labelled?.after).toEqual({ ...labelled?.before, label: "other" });
    expect(revoked?.before).toMatchObject({ revoked_at: null });
    expect(revoked?.after).toMatchObject({ revoked_at: expect.any(String) });
  });

  it("is written for each change of an agreement", async () => {
    const id = await approveAgreement();
    await query("select access.revoke_agreement($1)", [id]);
    const events = await eventsOf(id);
    expect(events.map(({ subject, action }) => `${subject} ${action}`)).toEqual([
      "tribal_access_agreements insert",
      "tribal_access_agreements update",
      "tribal_access_agreements update",
    ]);
    expect(events.map(({ before }) => before?.decision)).toEqual([undefined, null, "approved"]);
    expect(events[1]?.after).toMatchObject({ decision: "approved", decided_by_email: "ada@example.gov" });
    expect(events[2]?.after).toMatchObject({ revoked_at: expect.any(String) });
  });

  it("is written for each change of a tier", async () => {
    const rows = await tryAs<Event>(
      "postgres",
      "update access.tiers set requests_at_a_time = 2 where name = 'individual'",
      "select * from access.events order by id desc limit 1",
    );
    expect(rows[0]).toMatchObject({ subject: "tiers", subject_id: "individual", action: "update" });
    expect(rows[0]?.after).toMatchObject({ requests_at_a_time: 2 });
  });

  it("names the operator, if there is one", async () => {
    const { id } = await issueKey();
    const rows = await tryAs<Event>(
      "postgres",
      "set local access.operator = 'Grace'",
      ["update access.api_keys set label = 'other' where id = $1", [id]],
      ["select * from access.events where subject_id = $1 order by id", [id]],
    );
    expect(rows.map(({ operator }) => operator)).toEqual([null, "Grace"]);
  });

  it("names the role that has logged in, which needs no right to write events", async () => {
    const [row] = await tryAs<Event>(
      "postgres",
      "create role key_manager",
      "grant usage on schema access to key_manager",
      "grant select, update (label) on access.api_keys to key_manager",
      "set local session authorization key_manager",
      "update access.api_keys set label = 'other' where tier = 'demo'",
      "reset session authorization",
      "select * from access.events order by id desc limit 1",
    );
    expect(row).toMatchObject({ database_role: "key_manager", after: { label: "other" } });
  });

  it("holds neither a key nor a hash nor the first characters of a key", async () => {
    const { id, key } = await issueKey();
    const [made] = await query<{ api_key: string; api_key_id: string }>(
      "select * from access.rotate_key($1)",
      [id],
    );
    const other = made?.api_key ?? "";
    await query("select access.revoke_key($1)", [id]);
    const [row] = await query<{ text: string; count: number }>(
      "select string_agg(events::text, ' ') as text, count(*)::int as count from access.events where subject_id in ($1, $2)",
      [id, made?.api_key_id],
    );
    expect(row?.count).toBe(4);
    for (const secret of [key, other]) {
      const hash = createHash("sha256").update(secret).digest();
      for (const part of [secret.split("_")[1]?.slice(0, 6), hash.toString("hex"), hash.toString("base64")]) {
        expect(row?.text).not.toContain(part);
      }
    }
    // The demonstration key is as long as its first characters.
    expect(await query("select from access.events where events::text like '%DEMO\\_KEY%'")).toEqual([]);
  });

  it.each([
    "update access.events set operator = 'other'",
    "delete from access.events",
    "truncate access.events",
  ])("stays: %s is refused", async (statement) => {
    expect(await refusal(statement)).toMatch(/^access.events keeps its rows: \w+ is refused\.$/);
  });
});
