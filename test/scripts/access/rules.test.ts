import { createHash } from "node:crypto";
import type { Client, DatabaseError } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../../shared/connect.ts";
import { target } from "../../support/target.ts";
import { makeOwner } from "./support.ts";

// What the database permits for agreements, keys, events and one-time tokens, even for a superuser. In statements,
// `:name` is the ID of the row that `setUp` created under this name. Each test runs in a savepoint that is rolled back.

const owner = makeOwner();
const setUp = `
  create temporary table made (name text primary key, id uuid, api_key text);
  insert into made select name, access.request_agreement('Nation', '${owner}')
  from unnest(array['requested', 'approved', 'other', 'denied', 'revoked']) as name;
  select access.decide_agreement(id, decision, 'Ada', 'Agency', 'ada@example.gov', case decision when 'denied' then 'why' end)
  from made, lateral (select case name when 'denied' then name else 'approved' end as decision) where name <> 'requested';
  select access.revoke_agreement(id) from made where name = 'revoked';
  insert into made select name, issued.* from
    unnest(array['key', 'revoked_key', 'expired_key']) as name,
    lateral access.issue_key('individual', '${owner}', left('test', length(name) + 4)) as issued;
  insert into made select 'tribal', issued.*
  from made, lateral access.issue_key('tribal', '${owner}', 'test', null, made.id) as issued where made.name = 'approved';
  select access.revoke_key(id) from made where name = 'revoked_key';
  update access.api_keys set expires_at = now() from made where api_keys.id = made.id and name = 'expired_key'`;

let client: Client;
const made = new Map<string, { id: string; api_key: string }>();
beforeAll(async () => {
  client = await connect(target.databaseUrl, "test");
  await client.query(setUp);
  const { rows } = await client.query("select * from made");
  for (const row of rows) made.set(row.name, row);
  await client.query("begin");
});
afterAll(() => client.end());
beforeEach(async () => void (await client.query("savepoint test")));
afterEach(async () => void (await client.query("rollback to test")));

/** Runs statements, and returns the rows of the last one. */
async function run(sql: string) {
  const results = await client.query(sql.replace(/(?<!:):(\w+)/g, (_, name) => `'${made.get(name)?.id}'`));
  return [results].flat().at(-1)?.rows ?? [];
}
const refusal = (sql: string): Promise<string> =>
  run(sql).then(
    () => "nothing: it was allowed",
    ({ message }: DatabaseError) => message,
  );
const value = async (sql: string): Promise<unknown> =>
  Object.values((await run(`select ${sql}`))[0] ?? {})[0];

const decide = (decision: string) =>
  `decision = '${decision}', decided_at = clock_timestamp(), decided_by_name = 'Ada', decided_by_agency = 'Agency',
   decided_by_email = 'ada@example.gov', reason = 'because'`;
const approve = decide("approved");
const revoke = "revoked_at = clock_timestamp()";
const ofAgreement = (change: string, name: string) =>
  `update access.tribal_access_agreements set ${change} where id = :${name}`;
const ofKey = (change: string, name = "key") => `update access.api_keys set ${change} where id = :${name}`;

describe("an agreement", () => {
  const takeBack = `decision = null, decided_at = null, decided_by_name = null, decided_by_agency = null,
    decided_by_email = null, reason = null`;
  // Setting null to null changes nothing, so it is allowed.
  it.each([
    [approve, "requested"],
    [decide("denied"), "requested"],
    [takeBack, "requested"],
    [revoke, "approved"],
    ["ends_on = '2999-01-31'", "approved"],
    ["ends_on = null", "requested approved denied revoked"],
    [`${approve}, ends_on = '2999-01-31'`, "requested approved"],
    ["revoked_at = now() + interval '1 day'", "approved"],
    ["revoked_at = null", "requested approved denied"],
    [`${approve}, ${revoke}`, ""],
    [`${approve}, organization = 'Other'`, ""],
    [`${revoke}, contact_email = 'b@example.gov'`, ""],
    ["organization = 'Other'", ""],
    ["contact_email = 'b@example.gov'", ""],
    ["requested_at = requested_at - interval '1 day'", ""],
    ["decided_by_name = 'Other'", ""],
    ["reason = 'other'", ""],
  ])("changes by %s only in one of these states: %s", async (change, allowed) => {
    for (const state of ["requested", "approved", "denied", "revoked"]) {
      await client.query("rollback to test");
      const message = await refusal(ofAgreement(change, state));
      const refused = `The agreement ${made.get(state)?.id} is ${state} and cannot be changed this way.`;
      expect(message, state).toBe(allowed.includes(state) ? "nothing: it was allowed" : refused);
    }
  });
  const shorten = (days: number) => `select access.shorten_agreement(:approved, current_date + ${days})`;
  const insert = (columns: string, values: string) =>
    `insert into access.tribal_access_agreements (organization, contact_email, ${columns})
     values ('a', 'a@example.gov', ${values})`;
  const decided = "decision, decided_at, decided_by_name, decided_by_agency, decided_by_email";
  const decision = (values: string, of = ":requested") => `select access.decide_agreement(${of}, ${values})`;
  it.each([
    [insert("revoked_at", "now()"), /requested before it is approved/],
    [insert(decided, "'approved', now(), 'a', 'b', 'c@example.gov'"), /requested before it is approved/],
    [decision("'maybe', 'Ada', 'Agency', 'ada@example.gov'"), /"approved" or "denied"/],
    [decision("'approved', 'Ada', '', 'ada@example.gov'"), /official is blank/],
    [decision("'approved', 'Ada', 'Agency', 'ada'"), /not an email address/],
    [decision("'denied', 'Ada', 'Agency', 'ada@example.gov'"), /Enter a reason/],
    [decision("'approved', 'a', 'b', 'a@example.gov'", ":key"), /^There is no agreement /],
    ["select access.request_agreement(' ', 'a@example.gov')", /blank/],
    [decision("'approved', 'Ada', 'Agency', 'a@example.gov', null, current_date - 2"), /is in the past/],
    ["select access.shorten_agreement(:approved, current_date - 2)", /is in the past/],
    ["select access.shorten_agreement(:approved, 'infinity')", /cannot be changed this way/],
    ["select access.shorten_agreement(:requested, current_date + 9)", /is requested and cannot be changed/],
    [`${shorten(9)}; ${shorten(10)}`, /cannot be changed this way/],
    [`${shorten(9)}; ${ofAgreement("ends_on = null", "approved")}`, /cannot be changed this way/],
    ["select access.request_agreement('a', 'a@example')", /not an email/],
  ])("is refused: %s", async (sql, message) => expect(await refusal(sql)).toMatch(message));

  it("gets a later last day, or none, only if an official approves it again", async () => {
    const again = (day: string) =>
      decision(`'approved', 'Grace', 'Other Agency', 'g@example.gov', null, ${day}`, ":approved");
    const read =
      "select ends_on - current_date as days, decided_by_name as by from access.agreement_overview where id = :approved";
    expect(await run(`${shorten(9)}; ${shorten(8)}; ${read}`)).toEqual([{ days: 8, by: "Ada" }]);
    expect(await run(`${again("current_date + 30")}; ${read}`)).toEqual([{ days: 30, by: "Grace" }]);
    await client.query("rollback to test");
    expect(await run(`${shorten(9)}; ${again("null")}; ${read}`)).toEqual([{ days: null, by: "Grace" }]);
    const ends = "select before ->> 'ends_on' is null as had_none, after ->> 'ends_on' is null as has_none";
    expect(
      await run(`${ends} from access.events where subject_id = :approved order by id desc limit 2`),
    ).toEqual([
      { had_none: false, has_none: true },
      { had_none: true, has_none: false },
    ]);
  });

  it("ends when its last day ends in Washington, DC", async () => {
    const today = "(now() at time zone 'America/New_York')::date";
    const read =
      "select status, (select status from access.key_overview where id = :tribal) as key from access.agreement_overview where id = :approved";
    const endOn = (day: string) => ofAgreement(`ends_on = ${day}`, "approved");
    for (const zone of ["UTC", "Etc/GMT+12", "Etc/GMT-14"]) {
      await client.query("rollback to test");
      const on = `set local timezone = '${zone}'`;
      expect(await run(`${on}; ${endOn(today)}; ${read}`)).toEqual([{ status: "approved", key: "active" }]);
      const ended = { status: "ended", key: "agreement ended" };
      expect(await run(`${endOn(`${today} - 1`)}; ${read}`)).toEqual([ended]);
    }
  });

  it("can be revoked even if the clock was set back since the decision", async () => {
    const later = approve.replace("clock_timestamp()", "now() + interval '1 hour'");
    const status = "select status from access.agreement_status where id = :requested";
    const sql = `${ofAgreement(later, "requested")}; select access.revoke_agreement(:requested); ${status}`;
    expect(await run(sql)).toEqual([{ status: "revoked" }]);
  });

  it("is not revoked while a key is being issued under it", async () => {
    const other = await connect(target.databaseUrl, "test");
    await other.query("begin");
    await other.query("select access.issue_key('tribal', $1, '', null, $2)", [owner, made.get("other")?.id]);
    const message = await refusal("set local lock_timeout = '200ms'; select access.revoke_agreement(:other)");
    await other.end();
    expect(message).toMatch(/lock timeout/);
  });
});

describe("rows that are kept as a record are never removed", () => {
  it.each(["tribal_access_agreements", "api_keys", "downloads", "events"])("access.%s", async (table) => {
    for (const sql of [`delete from access.${table}`, `truncate access.${table} cascade`]) {
      await client.query("rollback to test");
      expect(await refusal(sql)).toMatch(/kept as a record/);
    }
  });
  it("access.events (nor changed)", async () =>
    expect(await refusal("update access.events set operator = 'other'")).toMatch(/kept as a record/));
});

describe("a key", () => {
  const fixed = /^Only a key's label, expiry date, revocation and last-used date may change\./;
  const undone = /cannot be undone/;
  /** Values that do not name an approved agreement. */
  const unfit = ["null", ":requested", ":denied", ":revoked", ":key"];
  const twoDays = ofKey("expires_at = now() + interval '2 days'");
  const issue = (tier: string, more: string) =>
    `select access.issue_key('${tier}', 'a@example.gov', '', ${more})`;
  const ended = ofAgreement("ends_on = current_date - 2", "approved");
  const rotate = (key: string) => `select access.rotate_key(${key})`;
  it.each<[string, string | RegExp]>([
    ...[
      ...["id = gen_random_uuid()", "tier = 'demo'", "owner_email = 'other@example.gov'", "replaces_id = id"],
      ...["key_sha256 = sha256('other')", "key_prefix = 'others'", "agreement_id = :approved"],
      "created_at = created_at - interval '1 day'",
    ].map((change): [string, RegExp] => [ofKey(change), fixed]),
    [ofKey("agreement_id = :other", "tribal"), fixed],
    [`${twoDays}; ${ofKey("expires_at = now() + interval '3 days'")}`, /not later/],
    [`${twoDays}; ${ofKey("expires_at = null")}`, /not later/],
    [ofKey("revoked_at = null", "revoked_key"), undone],
    [ofKey("revoked_at = now() + interval '1 day'", "revoked_key"), undone],
    [ofKey("label = 'other'", "revoked_key"), undone],
    [ofKey("expires_at = now()", "revoked_key"), undone],
    [issue("individual", "now()"), /in the past/],
    [issue("individual", "null, :approved"), /Only Tribal keys/],
    ...unfit.map((id): [string, RegExp] => [issue("tribal", `null, ${id}`), /agreement/]),
    [
      issue("tribal", "'9999-12-31', :approved"),
      /^A Tribal key that is issued now must expire by \d{4}-\d\d-\d\d\.$/,
    ],
    [rotate(":tribal, '0', '9999-12-31'"), /^A Tribal key that is issued now must expire by /],
    [rotate(":revoked_key"), /not active \(revoked\)/],
    [rotate(":expired_key"), /not active \(expired\)/],
    [`select access.revoke_agreement(:approved); ${rotate(":tribal")}`, /not active \(agreement revoked\)/],
    [`${ended}; ${rotate(":tribal")}`, /not active \(agreement ended\)/],
    [`${ended}; ${issue("tribal", "null, :approved")}`, /has ended or was revoked/],
    [rotate(":key, '-1 second'"), /cannot be negative/],
    [`${rotate(":key")}; ${rotate(":key")}`, /already rotated/],
    ...["", "a", "zzzzzz", "%%%%%%", "______"].map((name): [string, string] => [
      `select access.resolve_key('${name}')`,
      `There is no key "${name}".`,
    ]),
  ])("is refused: %s", async (sql, message) => expect(await refusal(sql)).toMatch(message));

  const insert = (changes: Record<string, string>) => {
    const row = { tier: "'individual'", owner_email: "'a@x.gov'", key_sha256: "sha256('x')", ...changes };
    const whole = { key_prefix: "'xxxxxx'", ...row };
    return `insert into access.api_keys (${Object.keys(whole)}) values (${Object.values(whole)})`;
  };
  const tribal = { tier: "'tribal'", expires_at: "now() + interval '1 day'", agreement_id: ":approved" };
  it.each<[Record<string, string>, RegExp]>([
    [{ key_prefix: "'xxxxxxxxx'" }, /prefix_is_short/],
    [{ ...tribal, expires_at: "now() + interval '6 months 1 day'" }, /must expire by/],
    [{ ...tribal, expires_at: "'infinity'" }, /must expire by/],
    [{ ...tribal, expires_at: "null" }, /it was allowed/],
    [{ agreement_id: ":approved" }, /tribal_has_an_agreement/],
    ...unfit.map((id): [Record<string, string>, RegExp] => [{ ...tribal, agreement_id: id }, /agreement/]),
    [tribal, /it was allowed/],
  ])("is checked when it is inserted directly, with %o", async (row, message) =>
    expect(await refusal(insert(row))).toMatch(message),
  );

  it.each([
    ...["", "ada", "@example.gov", "ada@example", "a b@example.gov", "a@b@c.gov", "ada@example.gov\n"],
    ...["ada@example..gov", "<ada@example.gov>", `${"a".repeat(250)}@example.gov`],
  ])("is not issued to the malformed email address %j, by function or by insert", async (address) => {
    const message = await refusal(`select access.issue_key('individual', '${address}')`);
    expect(message).toBe(`"${address}" is not an email address (example: name@example.gov).`);
    await client.query("rollback to test");
    expect(await refusal(insert({ owner_email: `'${address}'` }))).toMatch(/email_address_is_well_formed/);
  });
  it.each(["ada.b+c@mail-1.example.gov", "jörg@example.gov"])("is issued to %s", async (address) =>
    expect(await refusal(`select access.issue_key('individual', '${address}')`)).toMatch(/allowed/),
  );

  it("is its tier, 32 random letters and digits and a checksum; only its hash and prefix are stored", async () => {
    const { api_key: key } = made.get("key") ?? { api_key: "" };
    const hash = createHash("sha256").update(key).digest("hex");
    expect(key).toMatch(/^individual_[A-Za-z0-9]{32}[0-9a-f]{8}$/);
    expect(key.slice(-8)).toBe(createHash("sha256").update(key.slice(0, -8)).digest("hex").slice(0, 8));
    expect(made.get("tribal")?.api_key).toMatch(/^tribal_/);
    expect(new Set([...made.values()].map(({ api_key }) => api_key)).size).toBe(5);
    const [row] = await run(
      "select encode(key_sha256, 'hex') as hash, key_prefix, api_keys::text from access.api_keys where id = :key",
    );
    expect(row).toMatchObject({ hash, key_prefix: key.slice(11, 17) });
    expect(row.api_keys).not.toContain(key);
  });

  const of = (name: string) => `from access.api_keys where id = :${name}`;
  const asListed = `bool_and((status = 'active') = (active_keys.id is not null))
    from access.key_overview left join access.active_keys using (id)`;
  it.each([
    ["ends after 6 months if Tribal", `expires_at = created_at + interval '6 months' ${of("tribal")}`, true],
    ["never ends if not Tribal", `expires_at ${of("key")}`, null],
    ["is active in the overview exactly if it works", asListed, true],
  ])("%s", async (_what, sql, expected) => expect(await value(sql)).toBe(expected));

  it("that is rotated gets a replacement like it, and works for the overlap or until it expires", async () => {
    const both = "access.api_keys as new join access.api_keys as old on old.id = new.replaces_id";
    const alike = ["new", "old"].map((key) =>
      ["tier", "owner_email", "label", "agreement_id"].map((column) => `${key}.${column}`),
    );
    const rotated = `select new.expires_at = now() + interval '6 months' as renewed,
      old.expires_at = now() + interval '7 days' as overlap, (${alike[0]}) = (${alike[1]}) as alike from ${both}`;
    expect(await run(`${rotate(":tribal")}; ${rotated} where old.id = :tribal`)).toEqual([
      { renewed: true, overlap: true, alike: true },
    ]);
    const early = ofKey("expires_at = created_at + interval '2 days'");
    const ends = `select old.expires_at = old.created_at + interval '2 days' as kept,
      new.expires_at - now() = interval '2 days' as as_long from ${both} where old.id = :key`;
    expect(await run(`${early}; ${rotate(":key")}; ${ends}`)).toEqual([{ kept: true, as_long: true }]);
    const revokeNew = "select access.revoke_key(id) from access.api_keys where replaces_id = :key";
    expect(await refusal(`${revokeNew}; ${rotate(":key")}`)).toMatch(/allowed/);
  });

  it("is found by its ID, the start of its ID, or its prefix, if only one key matches", async () => {
    const { id = "", api_key = "" } = made.get("key") ?? {};
    for (const name of [id, id.toUpperCase(), id.slice(0, 13), api_key.slice(11, 17), api_key.slice(0, 17)])
      expect(await value(`access.resolve_key('${name}')`), name).toBe(id);
    const twice = (hash: string) => insert({ key_prefix: "'twice!'", key_sha256: `sha256('${hash}')` });
    expect(await refusal(`${twice("a")}; ${twice("b")}; select access.resolve_key('twice!')`)).toBe(
      '"twice!" matches 2 keys.',
    );
  });
});

it.each(["UTC", "Etc/GMT+12", "Etc/GMT-14"])(
  "the last use of a key, revoked or not, is recorded once a day, in UTC, without an event: %s",
  async (timezone) => {
    const hashes = "select key_sha256 from access.api_keys where id in (:key, :revoked_key)";
    const use = `access.record_key_use(array(${hashes}) || sha256('unknown'))`;
    const events = "count(*) from access.events where subject_id in (:key, :revoked_key)";
    const before = await value(events);
    await run(`set local timezone = '${timezone}'`);
    expect([await value(use), await value(use), await value(events)]).toEqual([2, 0, before]);
    const days = "array_agg(last_used_on::text) from access.api_keys where id in (:key, :revoked_key)";
    const today = new Date().toISOString().slice(0, 10);
    expect(await value(days)).toEqual([today, today]);
  },
);

const tier = (name: string, role: string) => `insert into access.tiers values ('${name}', '${role}', '1 s')`;
const tribalForAll = "update access.tiers set database_role = 'api_tribal' where name = 'individual'";
it.each<[string, RegExp]>([
  ...["", "Gold", "gold_2", "2nd", "größe", "gold\n"].map((name): [string, RegExp] => [
    tier(name, "api_public"),
    /name_can_begin_a_key/,
  ]),
  [tier("second", "api_tribal"), /only_tribal_sees_suppressed/],
  [tribalForAll, /only_tribal_sees_suppressed/],
])("a tier is refused: %s", async (sql, message) => expect(await refusal(sql)).toMatch(message));

describe("an event", () => {
  const read = (id: string) =>
    `select subject, action, operator, database_role, before, after from access.events where subject_id = ${id} order by id`;
  const changeTier = "update access.tiers set requests_at_a_time = 2 where name = 'individual'";
  const changeAgreement = ofAgreement(revoke, "approved");
  it.each([
    [`${ofKey("label = 'other'")}; ${read(":key")}`, { label: "test" }, { label: "other" }],
    [`${changeAgreement}; ${read(":approved")}`, { revoked_at: null }, { revoked_at: expect.any(String) }],
    [`${changeTier}; ${read("'individual'")}`, {}, { requests_at_a_time: 2 }],
  ])("records each change, with the operator: %s", async (sql, before, after) => {
    const rows = await run(`set local access.operator = 'Grace'; ${sql}`);
    expect(rows.at(-1)).toMatchObject({ action: "update", operator: "Grace", before, after });
  });

  it("names the login role, which needs no right to write events", async () => {
    const rows = await run(`create role key_manager; grant usage on schema access to key_manager;
      grant select, update (label) on access.api_keys to key_manager; set local session authorization key_manager;
      ${ofKey("label = 'other'")}; reset session authorization; ${read(":key")}`);
    expect(rows.at(-1)).toMatchObject({ database_role: "key_manager", after: { label: "other" } });
  });

  it("contains no key, no hash of a key and no key prefix", async () => {
    await run("select access.revoke_key(:key)");
    const [{ text }] = await run(
      "select string_agg(events::text, ' ') as text from access.events where subject_id = :key",
    );
    const key = made.get("key")?.api_key ?? "";
    const hash = createHash("sha256").update(key).digest();
    for (const part of [key.slice(11, 17), hash.toString("hex"), hash.toString("base64")])
      expect(text).not.toContain(part);
    expect(await run("select from access.events where events::text like '%DEMO\\_KEY%'")).toEqual([]);
  });
});

describe("a one-time token", () => {
  const issue = `select set_config('request.api_key_id', :tribal, true);
    create temporary table token as select * from access.issue_access_token('a report')`;
  const redeem = "select access.redeem_access_token(access_uuid) from token";
  const downloads = `select api_key_id = :tribal as mine, redeemed_at is not null as redeemed
    from access.downloads where report_id = 'a report'`;
  it.each([
    ["when it is issued", issue, false],
    ["when it is redeemed", `${issue}; ${redeem}`, true],
    ["unless the redemption is rolled back", `${issue}; savepoint s; ${redeem}; rollback to s`, false],
  ])("is recorded as a download %s", async (_when, sql, redeemed) =>
    expect(await run(`${sql}; ${downloads}`)).toEqual([{ mine: true, redeemed }]),
  );

  const notTribal = `alter table access.tiers drop constraint tiers_only_tribal_sees_suppressed;
    update access.tiers set database_role = 'api_public' where name = 'tribal'`;
  it.each([
    "select access.revoke_key(:tribal)",
    ofKey("expires_at = now()", "tribal"),
    ofAgreement(revoke, "approved"),
    ofAgreement("ends_on = current_date - 2", "approved"),
    notTribal,
  ])("is not valid, and none is issued, after: %s", async (change) => {
    const find = "access.find_report_of_token(access_uuid) as found, access.redeem_access_token(access_uuid)";
    expect(
      await run(`${issue}; select access.find_report_of_token(access_uuid) as found from token`),
    ).toEqual([{ found: "a report" }]);
    expect(await run(`${change}; select ${find} as redeemed from token`)).toEqual([
      { found: null, redeemed: null },
    ]);
    expect(await run("select * from access.issue_access_token('a report')")).toEqual([
      { access_uuid: null, expires_at: null },
    ]);
  });

  it("is not issued to a key without Tribal access", async () =>
    expect(await run(`${issue.replace(":tribal", ":key")}; select access_uuid from token`)).toEqual([
      { access_uuid: null },
    ]));

  const update = (change: string) => `update access.downloads set ${change} where report_id = 'a report'`;
  it.each([
    ...["report_id = 'other'", "api_key_id = :key", "requested_at = now() - interval '1 day'"].map(update),
    ...["redeemed_at = redeemed_at", "redeemed_at = now(), report_id = 'other'"].map(update),
    ...["redeemed_at = null", "redeemed_at = now() + interval '1 s'"].flatMap((change) => [
      `${redeem}; ${update(change)}`,
      `${redeem}; ${update(change).replace("downloads", "access_tokens")}`,
    ]),
  ])("changes only by being redeemed: %s", async (sql) =>
    expect(await refusal(`${issue}; ${sql}`)).toMatch(/redeemed_at may be set once/),
  );

  it.each([
    ["90 days", ["expired 89", "spent 89", "valid"]],
    ["100 days", ["expired 89", "expired 91", "spent 89", "spent 91", "valid"]],
    ["1 day", ["valid"]],
  ])(
    "is pruned by the publisher %s after it was spent or expired, and its download record stays",
    async (retention, kept) => {
      expect(await value("token_retention::text from access.settings")).toBe("90 days");
      const rows =
        await run(`delete from access.access_tokens; update access.settings set token_retention = '${retention}';
      insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at, redeemed_at)
      select sha256(uuid_send(gen_random_uuid())), :key, name, now() - expired::interval, now() - redeemed::interval
      from (values ('expired 91', '91 days', null), ('expired 89', '89 days', null), ('spent 91', '91 days', '91 days'),
        ('spent 89', '89 days', '89 days'), ('valid', '-1 minute', null)) as token (name, expired, redeemed);
      set local role publisher; select access.prune_access_tokens(); reset role;
      select array(select report_id from access.access_tokens order by report_id) as kept,
        (select count(*)::integer from access.downloads where report_id in ('expired 91', 'spent 91', 'valid')) as downloads`);
      expect(rows).toEqual([{ kept, downloads: 3 }]);
    },
  );
});
