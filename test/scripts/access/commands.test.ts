import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, it } from "vitest";
import { findOperator } from "../../../scripts/access/operator.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { query, queryValue, target } from "../../support/target.ts";
import { agreements, approveAgreement, expectFailure, issueKey, keys, makeOwner, shell } from "./support.ts";

it("the audit log names the person, also under sudo", () => {
  expect(findOperator({ USER: "root", SUDO_USER: "ada" })).toBe("ada");
  expect(findOperator({ USER: "ada" })).toBe("ada");
});

const keyForm = /^[a-z]+_[A-Za-z0-9]{32}[0-9a-f]{8}$/;
const readPrefix = (key: string) => key.split("_")[1]?.slice(0, 6) ?? "";
const unknown = "00000000-0000-4000-8000-000000000000";
const official = "--official 'Ada Official' --agency 'Department of Examples' --email ada@example.gov";

/** A day that a new Tribal key may expire on. */
const soon = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10);

const readHash = (id: string) =>
  queryValue<string>("select encode(key_sha256, 'hex') from access.api_keys where id = $1", [id]);

/** Waits for a command that must succeed, and returns the JSON that it printed. */
async function json(run: ReturnType<typeof keys>) {
  const { code, stdout, stderr } = await run;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe("refused commands say why in one line, and change nothing", () => {
  const ids = new Map<string, string>();
  let key: string;
  beforeAll(async () => {
    const made = await issueKey();
    key = made.key;
    ids
      .set("KEY", made.id)
      .set("WHOLE", key)
      .set("APPROVED", await approveAgreement());
  });
  type Row = [line: string, code: number, message: RegExp];
  const issue = "keys issue --owner OWNER --tier";
  // rules.test.ts covers what the database refuses. This has one message of each kind.
  it.each<Row>([
    ["keys issue --tier individual --owner not-an-address", 1, /"not-an-address" is not an email address/],
    [`${issue} gold`, 1, /no tier "gold"\. Tiers: demo, individual, tribal/],
    [`${issue} tribal --agreement ${unknown}`, 1, /no agreement/],
    [`${issue} individual --expires 2027-02-30`, 2, /Enter a date such as/],
    ["keys issue --owner OWNER", 2, /--tier/],
    [`${issue} tribal --agreement APPROVED --expires 9999-12-31`, 1, /A Tribal key .* must expire by 2/],
    ["keys issue --tier individual", 2, /--owner/],
    ["keys issue --from list.csv", 2, /--out/],
    ["keys issue --from list.csv --tier individual --out keys.csv", 2, /cannot be used with/],
    [`${issue} individual --out keys.csv`, 2, /add --from/],
    ["keys issue --from none.csv --out keys.csv", 1, /none\.csv cannot be opened: ENOENT/],
    ["keys list --limit 0", 2, /number such as 100/],
    [`${issue} individual --fast`, 2, /unknown option '--fast'/],
    [`${issue} individual more`, 2, /too many arguments/],
    [`${issue} individual --quiet --json`, 2, /cannot be used with/],
    [`${issue} individual --operator ' '`, 2, /Enter your name/],
    ...["show", "revoke", "rotate"].flatMap((command): Row[] => [
      [`keys ${command} zzzzzz`, 1, /There is no key "zzzzzz"/],
      [`keys ${command}`, 2, /missing required argument/],
      [`keys ${command} WHOLE`, 2, /verify/],
    ]),
    ...["soon", "-1d"].map((overlap): Row => [`keys rotate KEY --overlap=${overlap}`, 2, /duration such as/]),
    ["keys verify abcdef", 2, /too many arguments/],
    ["keys verify", 2, /no key on standard input/],
    ["agreements request --organization Nation --contact office", 1, /"office" is not an email address/],
    ["agreements shorten APPROVED --ends-on 2020-01-31", 1, /last day of the agreement is in the past/],
    ["agreements shorten APPROVED", 2, /--ends-on/],
    [`agreements approve APPROVED ${official}`, 1, /approved and cannot be changed this way/],
    [`agreements deny APPROVED ${official} --reason no`, 1, /is approved and cannot be changed this way/],
    ["agreements approve APPROVED --official Ada", 2, /--agency/],
    [`agreements deny APPROVED ${official}`, 2, /--reason/],
    [`agreements revoke ${unknown}`, 1, /There is no agreement/],
    ["agreements list --status lost", 2, /requested, approved, denied, ended, revoked/],
  ])("%s", async (line, code, message) => {
    const owner = makeOwner();
    const filled = line.replace(/[A-Z]{3,}/g, (name) => (name === "OWNER" ? owner : (ids.get(name) ?? name)));
    const [, command, args = ""] = /^(\w+) (.*)$/.exec(filled) ?? [];
    const run = await (command === "keys" ? keys : agreements)(args);
    expectFailure(run, message, code);
    expect(run.stderr).not.toContain(key);
    const state = `select (select count(*)::integer from access.api_keys where owner_email = $1) as issued,
      (select status from access.key_overview where id = $2) as key,
      (select status from access.agreement_overview where id = $3) as agreement`;
    const unchanged = { issued: 0, key: "active", agreement: "approved" };
    expect(await query(state, [owner, ids.get("KEY"), ids.get("APPROVED")])).toEqual([unchanged]);
  });
});

describe("keys", () => {
  it("issue prints the key once, with its details", async () => {
    const owner = makeOwner();
    const { code, stdout, stderr } = await keys(`issue --tier individual --owner ${owner} --label 'a label'`);
    const key = /^Copy the key now\. It will not be shown again:\n\n {2}(\S+)\n/.exec(stdout)?.[1] ?? "";
    expect([code, stderr, key]).toEqual([0, "", expect.stringMatching(keyForm)]);
    expect(stdout.split(key)).toHaveLength(2);
    for (const text of [owner, "a label", "individual", "never", readPrefix(key)])
      expect(stdout).toContain(text);
    expect((await keys(`show ${readPrefix(key)} --json`)).stdout).not.toContain(key);
  });

  it("issue --quiet prints the key and nothing else, also through npm", async () => {
    const { code, stdout } = await shell(
      `npm run -s keys -- issue --tier individual --owner ${makeOwner()} --quiet`,
    );
    expect(await json(keys("verify --json", { stdin: stdout }))).toMatchObject({ valid: true });
    expect([code, stdout.slice(0, -1)]).toEqual([0, expect.stringMatching(keyForm)]);
  });

  it("issue --json prints the key and its row of access.key_overview", async () => {
    const agreement = await approveAgreement();
    const args = `--tier tribal --owner ${makeOwner()} --agreement ${agreement.slice(0, 18)} --expires ${soon}`;
    const { key, ...row } = await json(keys(`issue ${args} --json`));
    expect(key).toMatch(keyForm);
    expect(row).toMatchObject({ expires_at: `${soon}T00:00:00+00:00`, agreement_id: agreement });
    expect(await json(keys(`list --json --owner ${row.owner_email}`))).toEqual([row]);
  });

  describe("of a list", () => {
    const run = async (list: string) => {
      const directory = await makeDirectory();
      const [from, out] = [path.join(directory, "list.csv"), path.join(directory, "keys.csv")];
      await writeFile(from, list);
      return { result: await keys(`issue --from ${from} --out ${out}`), directory, from, out };
    };

    it("are issued together, into a file that only its owner can read", async () => {
      const [owner, agreement] = [makeOwner(), await approveAgreement()];
      const list = `\ufeffowner_email,tier,label,expires_at,agreement_id\r\n${owner},individual,"a, b",,\r\n
${owner},tribal,,${soon},${agreement.slice(0, 18)}\r\n`;
      const { result, from, out } = await run(list);
      expect(result).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(/^Keys issued: 2\./),
      });
      const text = await readFile(out, "utf8");
      expect((await stat(out)).mode & 0o777).toBe(0o600);
      const rows: Record<string, string>[] = parse(text, { columns: true });
      expect(rows).toMatchObject([
        { owner_email: owner, tier: "individual", label: "a, b", expires_at: "", agreement_id: "" },
        { owner_email: owner, tier: "tribal", expires_at: `${soon}T00:00:00+00:00`, agreement_id: agreement },
      ]);
      for (const { key = "", id } of rows) {
        expect(result.stdout).not.toContain(key);
        expect(await json(keys("verify --json", { stdin: key }))).toMatchObject({ valid: true, id });
      }
      expectFailure(await keys(`issue --from ${from} --out ${out}`), /keys\.csv already exists/);
      expect(await readFile(out, "utf8")).toBe(text);
      expect(await json(keys(`list --owner ${owner} --json`))).toHaveLength(2);
    });

    const head = "tier,owner_email,expires_at,agreement_id\n";
    const good = "individual,OWNER,,\n";
    it.each([
      ["", /The list has no keys/],
      [head, /The list has no keys/],
      ["tier,owner\n", /Line 1: There is no column "owner"\. Columns: tier, owner_email, label/],
      ["tier,label\n", /Line 1: The column owner_email is missing/],
      ["tier,tier\n", /Line 1: The column tier appears twice/],
      [`${head}${good}individual,OWNER\n`, /Line 3: /],
      [`${head}${good}"individual,OWNER\n`, /Line \d: .*[Qq]uote/],
      [`${head}${good}gold,OWNER,,\n${good}`, /Line 3, column tier: There is no tier "gold"\. Tiers: /],
      [`${head}${good}individual,ada,,\n`, /Line 3, column owner_email: "ada" is not an email address/],
      [`${head}${good}individual,OWNER,soon,\n`, /Line 3, column expires_at: "soon" is not a date/],
      [`${head}${good}individual,OWNER,2020-01-31,\n`, /Line 3, column expires_at: .* is in the past/],
      [`${head}${good}tribal,OWNER,9999-12-31,AGREEMENT\n`, /Line 3, column expires_at: .* must expire by/],
      [`${head}${good}tribal,OWNER,,\n`, /Line 3, column agreement_id: A Tribal key needs/],
      [`${head}${good}tribal,OWNER,,000000\n`, /Line 3, column agreement_id: There is no agreement "000000"/],
      [`${head}${good}tribal,OWNER,,REQUESTED\n`, /Line 3, column agreement_id: .* is not approved/],
    ])("are not issued, and no file is left, if the list is %j", async (list, message) => {
      const owner = makeOwner();
      const filled = list
        .replaceAll("OWNER", owner)
        .replace("AGREEMENT", list.includes("AGREEMENT") ? await approveAgreement() : "")
        .replace("REQUESTED", await queryValue("select access.request_agreement('Nation', 'a@example.gov')"));
      const { result, directory } = await run(filled);
      expectFailure(result, message);
      expect(await readdir(directory)).toEqual(["list.csv"]);
      expect(await json(keys(`list --owner ${owner} --json`))).toEqual([]);
    });

    it("can be many", async () => {
      const owner = makeOwner();
      const row = (number: number) => `individual,${owner},key ${number}\n`;
      const list = `tier,owner_email,label\n${Array.from({ length: 1000 }, (_, number) => row(number)).join("")}`;
      const { out } = await run(list);
      const rows: Record<string, string>[] = parse(await readFile(out), { columns: true });
      expect(rows.map(({ label }) => label)).toEqual(rows.map((_, number) => `key ${number}`));
      expect(new Set(rows.map(({ key }) => key)).size).toBe(1000);
      const { stdout } = await keys("list");
      expect(stdout).toMatch(/These are the newest 100 of \d+ keys\./);
    });
  });

  it("list finds text in owners, labels and organizations, and prints the newest keys or all as CSV", async () => {
    const owner = makeOwner();
    const label = 'so-called "a, b"\nline';
    const ids: string[] = [];
    for (let number = 0; number < 3; number += 1)
      ids.unshift((await issueKey("individual", undefined, { owner, label })).id);
    const find = `--search ${owner.slice(1, -3).toUpperCase()}`;
    const { stdout } = await keys(`list ${find} --csv`);
    const rows: Record<string, string>[] = parse(stdout, { columns: true });
    expect(rows.map(({ id }) => id)).toEqual(ids);
    const [row] = await json(keys(`list ${find} --limit 1 --json`));
    const asText = Object.entries(row).map(([name, value]) => [name, String(value ?? "")]);
    expect(rows[0]).toEqual(Object.fromEntries(asText));
    expect(row).toMatchObject({ id: ids[0], label });
    const two = (await keys(`list ${find} --limit 2`)).stdout;
    expect(two).toMatch(/^[^\n]+\n[^\n]+\n[^\n]+\n\nThese are the newest 2 of 3 keys\./);
    expect(await json(keys(`list --owner ${owner} --search 'A, B' --json`))).toHaveLength(3);
    expect((await keys("list --search '%'")).stdout).toBe("No keys.\n");
  });

  it("list prints a readable table, without hashes or control characters", async () => {
    const owner = makeOwner();
    const label = "\u001b[31mred\nline";
    const { id, key } = await issueKey("individual", undefined, { owner, label });
    const { stdout } = await keys(`list --owner ${owner.toUpperCase()} --tier individual --status active`);
    const [head, line, ...rest] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^KEY PREFIX +TIER +OWNER EMAIL +LABEL +STATUS +EXPIRES AT +LAST USED ON$/);
    const cells = [readPrefix(key), "individual", owner, " \\[31mred line", "active", "never", "never"];
    expect([line, rest]).toEqual([expect.stringMatching(new RegExp(`^${cells.join(" +")}$`)), []]);
    const { stdout: all } = await keys("list --json");
    for (const secret of [key, await readHash(id)]) expect(all).not.toContain(secret);
    expect((await keys(`list --json --owner ${makeOwner()}`)).stdout).toBe("[]\n");
    expect((await keys(`list --owner ${makeOwner()}`)).stdout).toBe("No keys.\n");
  });

  it("show prints the changes to a key and who made them; revoking it again changes nothing", async () => {
    const { id, key } = await issueKey();
    const revoked = await json(keys(`revoke ${id} --json --operator 'Grace Operator'`));
    expect(revoked).toMatchObject({ id, status: "revoked" });
    expect(await json(keys(`revoke ${id} --json`))).toEqual(revoked);
    const { stdout } = await keys(`show ${readPrefix(key)}`);
    expect(stdout).toMatch(new RegExp(`^id +${id}\n`));
    expect(stdout).toMatch(/Grace Operator +postgres +revoked_at: none → /);
    const { history } = await json(keys(`show ${id} --json`));
    expect(history).toMatchObject([
      { action: "insert", operator: null },
      { action: "update", operator: "Grace Operator" },
    ]);
  });

  it("verify exits with 0 for a valid key, and with 4 for any other", async () => {
    const agreement = await approveAgreement();
    const { id, key } = await issueKey("tribal", agreement);
    const hash = await readHash(id);
    const verify = async (stdin: string) => {
      const { code, stdout } = await keys("verify", { stdin });
      expect(stdout).not.toContain(key);
      const { stdout: text } = await keys("verify --json", { stdin });
      return [code, stdout.split("\n")[0], JSON.parse(text)];
    };
    const verdict = (row: object) => expect.objectContaining({ id, ...row });
    expect(await verify(`${key}\n`)).toEqual([0, "valid", verdict({ valid: true, status: "active" })]);
    await agreements(`revoke ${agreement}`);
    const revoked = verdict({ valid: false, status: "agreement revoked" });
    expect(await verify(key)).toEqual([4, "not valid: agreement revoked", revoked]);
    for (const other of ["unknown", hash])
      expect(await verify(other)).toEqual([4, "not valid: unknown", { valid: false, status: "unknown" }]);
  });

  it.each([
    ["", "7 days"],
    ["--overlap 12h", "12 hours"],
    ["--overlap 30m", "30 minutes"],
    ["--overlap 0", "0"],
  ])("rotate %s leaves the old key valid for %s", async (args, interval) => {
    const { id } = await issueKey();
    const made = await json(keys(`rotate ${id} ${args} --json`));
    expect([made.replaces.id, made.key]).toEqual([id, expect.stringMatching(keyForm)]);
    const sql = "select expires_at = $2::timestamptz + $3::interval from access.api_keys where id = $1";
    expect(await queryValue(sql, [id, made.created_at, interval])).toBe(true);
  });
});

it("agreements are requested, approved or denied, and revoked", async () => {
  const request = async () => {
    const row = await json(agreements("request --organization Nation --contact office@example.gov --json"));
    expect(row).toMatchObject({ organization: "Nation", status: "requested", decided_at: null });
    return row.id;
  };
  const id = await request();
  expect(await json(agreements(`approve ${id} ${official} --json --operator Grace`))).toMatchObject({
    ...{ status: "approved", decided_by_name: "Ada Official", decided_by_agency: "Department of Examples" },
    ...{ decided_by_email: "ada@example.gov", reason: null, ends_on: null },
  });
  const ends = (day: string) => ({ id, status: "approved", ends_on: day });
  expect(await json(agreements(`shorten ${id} --ends-on 2999-12-31 --json`))).toMatchObject(
    ends("2999-12-31"),
  );
  expectFailure(
    await agreements(`shorten ${id} --ends-on 3000-01-01`),
    /To move the last day later, approve it again/,
  );
  const again = `approve ${id} ${official} --ends-on 3000-01-01 --operator Grace --json`;
  expect(await json(agreements(again))).toMatchObject(ends("3000-01-01"));
  expect((await agreements("list")).stdout).toMatch(new RegExp(`^${id} .* 3000-01-01 +0$`, "m"));
  const operator = "select operator from access.events where subject_id = $1 order by id desc limit 1";
  expect(await queryValue(operator, [id])).toBe("Grace");
  await issueKey("tribal", id);
  expect((await agreements(`revoke ${id}`)).stdout).toMatch(/^Keys revoked: 1\n\n/);
  const revoked = await json(agreements("list --json --status revoked"));
  expect(revoked).toContainEqual(expect.objectContaining({ id, active_keys: 0 }));
  expect((await agreements("list")).stdout).toMatch(new RegExp(`^${id} +Nation +revoked`, "m"));
  const denied = await agreements(`deny ${await request()} ${official} --reason 'Not a Tribe.'`);
  expect(denied.stdout).toMatch(/^status +denied$[\s\S]*^reason +Not a Tribe\.$/m);
});

it.each([
  ["keys", keys, ["", "issue", "list", "show", "revoke", "rotate", "verify"]],
  ["agreements", agreements, ["", "request", "approve", "deny", "shorten", "revoke", "list"]],
])("the help of %s and each of its commands lists the exit statuses", async (_script, run, commands) => {
  for (const command of commands) {
    const { code, stdout } = await run(`${command} --help`, { env: {} });
    expect(code, command).toBe(0);
    expect(stdout, command).toMatch(/^Usage: [\s\S]*Exit status: 0 success/);
  }
  const without = await run("", { env: {} });
  expect(without).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/^Usage: /) });
});

describe("the database", () => {
  const change = (changes: Partial<URL>) => ({
    DATABASE_URL: Object.assign(new URL(target.databaseUrl), changes).href,
  });
  const isDown = /Cannot connect to the database at .*:1: .*ECONNREFUSED/;
  it.each<[string, Record<string, string>, RegExp]>([
    ["is down", change({ port: "1", password: "secret" }), isDown],
    ["is not configured", { STACK_DIRECTORY: "/nonexistent" }, /Set DATABASE_URL, or PGHOST/],
    ["refuses the password", change({ password: "secret" }), /password authentication failed/],
    ["has no access schema", change({ pathname: "/postgres" }), /npm run db:deploy/],
  ])("%s: the commands print one line and exit with status 1", async (_what, env, message) => {
    for (const run of [keys, agreements]) {
      const result = await run("list", { env });
      expectFailure(result, message);
      expect(result.stderr).not.toContain("secret");
    }
  });

  it("is configured by libpq's variables, with the password in a file", async () => {
    const url = new URL(target.databaseUrl);
    const PGPASSWORD_FILE = path.join(await makeDirectory(), "password");
    await writeFile(PGPASSWORD_FILE, decodeURIComponent(url.password));
    const { hostname: PGHOST, port: PGPORT, username: PGUSER } = url;
    const env = { PGHOST, PGPORT, PGUSER, PGDATABASE: url.pathname.slice(1) };
    const command = "node --import tsx scripts/keys.ts list";
    const run = await shell(`${command} --json --tier demo`, { env: { ...env, PGPASSWORD_FILE } });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout).length).toBeGreaterThan(0);
    // It must not wait for the minute that the server allows for a password.
    const without = await shell(`timeout 50 ${command}`, { env });
    expectFailure(without, /requires a password\. Set PGPASSWORD or PGPASSWORD_FILE/);
    expectFailure(await shell(`${command} > /dev/full`), /the output could not be written: /);
  });
});
