import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { lockDirectory } from "../../../scripts/stack/lock-directory.ts";
import { query, target } from "../../support/target.ts";
import {
  agreements,
  approveAgreement,
  ask,
  issueKey,
  keys,
  makeOwner,
  type Run,
  requestAgreement,
  shell,
} from "./support.ts";

const keyForm = /^[A-Za-z0-9]{43}$/;
const unknown = "00000000-0000-4000-8000-000000000000";
const official = `--official 'Ada Official' --agency 'Department of Examples' --email ada@example.gov`;
const countKeys = (owner: string) =>
  ask<number>("select count(*)::int from access.api_keys where owner_email = $1", [owner]);

function expectOneLine({ stdout, stderr }: Run, message: RegExp) {
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toMatch(message);
}

describe("keys issue", () => {
  it("prints the key once, with what it is", async () => {
    const owner = makeOwner();
    const { code, stdout, stderr } = await keys(`issue --tier individual --owner ${owner} --label 'a label'`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const key = /^The key, shown this once:\n\n {2}(\S+)\n/.exec(stdout)?.[1] ?? "";
    expect(key).toMatch(keyForm);
    expect(stdout.split(key)).toHaveLength(2);
    for (const text of [owner, "a label", "individual", "never", key.slice(0, 6)])
      expect(stdout).toContain(text);
    const later = await keys(`show ${key.slice(0, 6)} --json`);
    expect(later.stdout).not.toContain(key);
  });

  it("prints the key and nothing else on standard output with --quiet, through npm as well", async () => {
    const owner = makeOwner();
    const { code, stdout, stderr } = await shell(
      `npm run -s keys -- issue --tier individual --owner ${owner} --quiet | tee /dev/null`,
      { env: { DATABASE_URL: target.databaseUrl, npm_config_update_notifier: "false" } },
    );
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/error/);
    expect(stdout).toMatch(/^[A-Za-z0-9]{43}\n$/);
    const [row] = await query<{ owner_email: string }>(
      "select owner_email from access.verify_key(sha256(convert_to($1, 'UTF8')))",
      [stdout.trim()],
    );
    expect(row?.owner_email).toBe(owner);
  });

  it("prints JSON with --json", async () => {
    const agreement = await approveAgreement();
    const owner = makeOwner();
    const { code, stdout } = await keys(
      `issue --tier tribal --owner ${owner} --agreement ${agreement.slice(0, 18)} --expires 2999-01-31 --json`,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      key: expect.stringMatching(keyForm),
      tier: "tribal",
      owner_email: owner,
      status: "active",
      expires_at: "2999-01-31T00:00:00+00:00",
      agreement_id: agreement,
    });
  });

  it.each([
    [
      "a wrong e-mail address",
      "--tier individual --owner not-an-address",
      1,
      /"not-an-address" is not an e-mail address/,
    ],
    ["an unknown tier", "--tier gold --owner OWNER", 1, /no tier "gold"\. Tiers: demo, individual, tribal/],
    ["a Tribal key without agreement", "--tier tribal --owner OWNER", 1, /needs an approved agreement/],
    ["an unknown agreement", `--tier tribal --owner OWNER --agreement ${unknown}`, 1, /no agreement/],
    [
      "an agreement for another tier",
      "--tier individual --owner OWNER --agreement APPROVED",
      1,
      /Only a Tribal key/,
    ],
    [
      "an agreement that is not approved",
      "--tier tribal --owner OWNER --agreement REQUESTED",
      1,
      /not approved/,
    ],
    ["a day that has passed", "--tier individual --owner OWNER --expires 2020-01-31", 1, /expired before/],
    [
      "a day that is none",
      "--tier individual --owner OWNER --expires 2027-02-30",
      2,
      /must be a day such as/,
    ],
    ["no tier", "--owner OWNER", 2, /--tier/],
    ["no owner", "--tier individual", 2, /--owner/],
    ["an unknown option", "--tier individual --owner OWNER --fast", 2, /unknown option '--fast'/],
    ["too many words", "--tier individual --owner OWNER more", 2, /too many arguments/],
    [
      "--quiet and --json at once",
      "--tier individual --owner OWNER --quiet --json",
      2,
      /cannot be used with/,
    ],
    ["an operator without a name", "--tier individual --owner OWNER --operator ' '", 2, /must be a name/],
  ])("refuses %s in one line and changes nothing", async (_what, args, code, message) => {
    const owner = makeOwner();
    const filled = args
      .replace("OWNER", owner)
      .replace("APPROVED", await approveAgreement())
      .replace("REQUESTED", await requestAgreement());
    const run = await keys(`issue ${filled}`);
    expect(run.code).toBe(code);
    expectOneLine(run, message);
    expect(await countKeys(owner)).toBe(0);
  });
});

describe("keys list", () => {
  it("prints a table for people and JSON for pipelines, without hashes", async () => {
    const { id, key } = await issueKey();
    const [row] = await query<{ owner: string; hash: string }>(
      "select owner_email as owner, encode(key_sha256, 'hex') as hash from access.api_keys where id = $1",
      [id],
    );
    const table = await keys(`list --owner ${row?.owner}`);
    expect(table.code).toBe(0);
    const [head, line, ...rest] = table.stdout.trimEnd().split("\n");
    expect(head).toMatch(/^KEY +TIER +OWNER +LABEL +STATUS +EXPIRES +LAST USED$/);
    expect(line).toMatch(
      new RegExp(`^${key.slice(0, 6)} +individual +${row?.owner} +test +active +never +never$`),
    );
    expect(rest).toEqual([]);
    const json = await keys(`list --json --owner ${row?.owner} --tier individual --status active`);
    expect(JSON.parse(json.stdout)).toMatchObject([{ id, status: "active", last_used_on: null }]);
    const all = await keys("list --json");
    for (const text of [key, row?.hash]) expect(all.stdout).not.toContain(text);
  });

  it("does not let a label steer the terminal", async () => {
    const owner = makeOwner();
    await query("select access.issue_key('individual', $1, $2)", [owner, "\u001b[31mred\nline"]);
    const { stdout } = await keys(`list --owner ${owner}`);
    expect(stdout).not.toContain("\u001b");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  it("prints an empty list where nothing matches", async () => {
    expect((await keys(`list --json --owner ${makeOwner()}`)).stdout).toBe("[]\n");
    expect((await keys(`list --owner ${makeOwner()}`)).stdout).toBe("No keys.\n");
  });
});

describe("keys show", () => {
  it("shows a key and who did what to it", async () => {
    const { id, key } = await issueKey();
    await keys(`revoke ${id} --operator 'Grace Operator'`);
    const { code, stdout } = await keys(`show ${key.slice(0, 6)}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +\S+\n/);
    expect(stdout).toContain(id);
    expect(stdout).toMatch(/Grace Operator +postgres +revoked_at: none → /);
    const { history } = JSON.parse((await keys(`show ${id} --json`)).stdout);
    expect(history).toMatchObject([
      { action: "insert", operator: null },
      { action: "update", operator: "Grace Operator" },
    ]);
  });
});

describe("the operator", () => {
  it.each([
    ["the name given", "--operator Grace", { SUDO_USER: "sudo-user", USER: "root" }, "Grace"],
    ["who called sudo", "", { SUDO_USER: "sudo-user", USER: "root" }, "sudo-user"],
    ["the user", "", { USER: "user" }, "user"],
  ])("is %s", async (_what, args, variables, expected) => {
    const { stdout } = await keys(`issue --tier individual --owner ${makeOwner()} --json ${args}`, {
      env: { DATABASE_URL: target.databaseUrl, ...variables },
    });
    const { id } = JSON.parse(stdout);
    expect(await ask("select operator from access.events where subject_id = $1", [id])).toBe(expected);
  });
});

describe.each(["show", "revoke", "rotate"])("keys %s", (command) => {
  it.each([
    ["an unknown ID", unknown, 1, /There is no key/],
    ["an unknown beginning", "zzzzzz", 1, /There is no key "zzzzzz"/],
    ["too short a beginning", "a", 1, /There is no key "a"/],
    ["nothing", "", 2, /missing required argument/],
  ])("refuses %s in one line", async (_what, reference, code, message) => {
    const run = await keys(`${command} ${reference}`);
    expect(run.code).toBe(code);
    expectOneLine(run, message);
  });

  it("refuses a whole key without repeating it", async () => {
    const { key, id } = await issueKey();
    const run = await keys(`${command} ${key}`);
    expect(run.code).toBe(2);
    expectOneLine(run, /verify/);
    expect(run.stderr).not.toContain(key);
    expect(await ask("select status from access.key_overview where id = $1", [id])).toBe("active");
  });
});

describe("keys verify", () => {
  it("answers 0 to a valid key on standard input", async () => {
    const { id, key } = await issueKey();
    const run = await keys("verify", { stdin: `${key}\n` });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toMatch(/^valid\n/);
    expect(run.stdout).not.toContain(key);
    const json = await keys("verify --json", { stdin: key });
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: true, id, status: "active" });
  });

  it.each([
    ["revoked", "select access.revoke_key($1)"],
    ["expired", "update access.api_keys set expires_at = now() where id = $1"],
    ["agreement revoked", "select access.revoke_agreement(agreement_id) from access.api_keys where id = $1"],
  ])("answers 4 to a key that is %s", async (status, sql) => {
    const { id, key } = await issueKey("tribal", await approveAgreement());
    await query(sql, [id]);
    const run = await keys("verify", { stdin: key });
    expect(run).toMatchObject({ code: 4, stderr: "" });
    expect(run.stdout.split("\n")[0]).toBe(`not valid: ${status}`);
    const json = await keys("verify --json", { stdin: key });
    expect(json.code).toBe(4);
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, id, status });
  });

  it("answers 4 to an unknown key and to a stored hash", async () => {
    const { id } = await issueKey();
    const hash = await ask<string>("select encode(key_sha256, 'hex') from access.api_keys where id = $1", [
      id,
    ]);
    for (const stdin of ["unknown", hash]) {
      expect(await keys("verify", { stdin })).toEqual({
        code: 4,
        stdout: "not valid: unknown\n",
        stderr: "",
      });
      expect(JSON.parse((await keys("verify --json", { stdin })).stdout)).toEqual({
        valid: false,
        status: "unknown",
      });
    }
  });

  it("answers 2 to nothing, and takes no key as an argument", async () => {
    const nothing = await keys("verify", { stdin: "\n" });
    expect(nothing.code).toBe(2);
    expectOneLine(nothing, /no key on standard input/);
    const argument = await keys("verify abcdef", { stdin: "abcdef" });
    expect(argument.code).toBe(2);
    expectOneLine(argument, /too many arguments/);
  });
});

describe("keys rotate", () => {
  it("prints the new key alone with --quiet", async () => {
    const { id } = await issueKey();
    const { code, stdout } = await keys(`rotate ${id} --quiet`);
    expect(code).toBe(0);
    expect(stdout.trimEnd()).toMatch(keyForm);
    expect(
      await ask("select expires_at - now() > '6 days 23 hours' from access.api_keys where id = $1", [id]),
    ).toBe(true);
  });

  it.each([
    ["12h", "12 hours"],
    ["30m", "30 minutes"],
    ["0", "0"],
  ])("gives the old key the overlap %s", async (overlap, interval) => {
    const { id } = await issueKey();
    const { stdout } = await keys(`rotate ${id} --overlap ${overlap} --json`);
    const made = JSON.parse(stdout);
    expect(made.replaces.id).toBe(id);
    expect(
      await ask(
        `select old.expires_at = new.created_at + $2::interval from access.api_keys as new
         join access.api_keys as old on old.id = new.replaces_id where new.id = $1`,
        [made.id, interval],
      ),
    ).toBe(true);
  });

  it.each(["soon", "-1d", "1", "1.5h", ""])("refuses the overlap %j as wrong usage", async (overlap) => {
    const { id } = await issueKey();
    const run = await keys(`rotate ${id} --overlap='${overlap}'`);
    expect(run.code).toBe(2);
    expectOneLine(run, /length of time such as/);
  });

  it("refuses a revoked key", async () => {
    const { id } = await issueKey();
    await keys(`revoke ${id}`);
    const run = await keys(`rotate ${id}`);
    expect(run.code).toBe(1);
    expectOneLine(run, /not active \(revoked\)/);
  });
});

describe("keys revoke", () => {
  it("revokes, and says so again when it is asked again", async () => {
    const { id } = await issueKey();
    const first = JSON.parse((await keys(`revoke ${id} --json`)).stdout);
    expect(first).toMatchObject({ id, status: "revoked" });
    const again = await keys(`revoke ${id} --json`);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toEqual(first);
  });
});

describe("agreements", () => {
  const request = async () => {
    const { stdout } = await agreements(
      "request --organisation 'Example Nation' --contact office@example.gov --json",
    );
    return JSON.parse(stdout);
  };

  it("are requested, approved and revoked", async () => {
    const agreement = await request();
    expect(agreement).toMatchObject({
      organisation: "Example Nation",
      status: "requested",
      decided_at: null,
    });
    const approved = await agreements(`approve ${agreement.id} ${official} --json --operator Grace`);
    expect(approved.code).toBe(0);
    expect(JSON.parse(approved.stdout)).toMatchObject({
      status: "approved",
      decided_by_name: "Ada Official",
      decided_by_agency: "Department of Examples",
      decided_by_email: "ada@example.gov",
      reason: null,
    });
    await issueKey("tribal", agreement.id);
    const revoked = await agreements(`revoke ${agreement.id}`);
    expect(revoked.code).toBe(0);
    expect(revoked.stdout).toMatch(/^Keys that worked until now: 1\n\n/);
    const list = await agreements("list --json --status revoked");
    const [found] = JSON.parse(list.stdout).filter(({ id }: { id: string }) => id === agreement.id);
    expect(found).toMatchObject({ status: "revoked", active_keys: 0 });
    expect(
      await ask(
        "select array_agg(operator) from access.events where subject_id = $1 and operator = 'Grace'",
        [agreement.id],
      ),
    ).toEqual(["Grace"]);
    expect((await agreements("list")).stdout).toMatch(
      new RegExp(`^${agreement.id} +Example Nation +revoked`, "m"),
    );
  });

  it("are denied with a reason", async () => {
    const { id } = await request();
    const without = await agreements(`deny ${id} ${official}`);
    expect(without.code).toBe(2);
    expectOneLine(without, /--reason/);
    const { code, stdout } = await agreements(`deny ${id} ${official} --reason 'Not a Tribe.'`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^status +denied$/m);
    expect(stdout).toMatch(/^reason +Not a Tribe\.$/m);
  });

  it.each([
    ["request", "--organisation ' ' --contact office@example.gov", 1, /blank/],
    ["request", "--organisation Nation --contact office", 1, /"office" is not an e-mail address/],
    ["approve", `${unknown} ${official}`, 1, /There is no agreement/],
    [
      "approve",
      `REQUESTED ${official.replace("ada@example.gov", "ada")}`,
      1,
      /"ada" is not an e-mail address/,
    ],
    ["approve", "REQUESTED --official Ada", 2, /--agency/],
    ["approve", `APPROVED ${official}`, 1, /is approved: this change is refused/],
    ["deny", `APPROVED ${official} --reason no`, 1, /is approved: this change is refused/],
    ["revoke", "REQUESTED", 1, /is requested: this change is refused/],
    ["revoke", unknown, 1, /There is no agreement/],
    ["list", "--status lost", 2, /requested, approved, denied, revoked/],
  ])("refuse in one line: %s %s", async (command, args, code, message) => {
    const [requested, approved] = [await requestAgreement(), await approveAgreement()];
    const run = await agreements(
      `${command} ${args.replace("REQUESTED", requested).replace("APPROVED", approved)}`,
    );
    expect(run.code).toBe(code);
    expectOneLine(run, message);
    const states = await query<{ status: string }>(
      "select status from access.agreement_overview where id in ($1, $2) order by status",
      [requested, approved],
    );
    expect(states.map(({ status }) => status)).toEqual(["approved", "requested"]);
  });
});

describe("the help", () => {
  it.each([
    ["keys", ["", "issue", "list", "show", "revoke", "rotate", "verify"]],
    ["agreements", ["", "request", "approve", "deny", "revoke", "list"]],
  ])("of %s and each of its commands says how it exits", async (script, commands) => {
    for (const command of commands) {
      const { code, stdout, stderr } = await shell(
        `node --import tsx scripts/${script}.ts ${command} --help`,
        {
          env: {},
        },
      );
      expect({ code, stderr }, command).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Usage: /);
      expect(stdout).toContain("Exit status: 0 done");
    }
  });

  it.each(["keys", "agreements"])(
    "is shown on standard error where %s is given no command",
    async (script) => {
      const { code, stdout, stderr } = await shell(`node --import tsx scripts/${script}.ts`);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^Usage: /);
    },
  );
});

describe("the database", () => {
  it.each([
    [
      "is down",
      { DATABASE_URL: "postgres://user:secret@127.0.0.1:1/x" },
      /127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
    ],
    [
      "is down, by libpq's variables",
      { PGHOST: "127.0.0.1", PGPORT: "1" },
      /127\.0\.0\.1:1 cannot be reached/,
    ],
    ["is not named", { STACK_DIRECTORY: "/nonexistent" }, /set DATABASE_URL, or PGHOST/],
    ["has a malformed address", { DATABASE_URL: "localhost" }, /DATABASE_URL should be an address such as/],
  ])("%s: one line, and 1", async (_what, env, message) => {
    for (const run of [await keys("list", { env }), await agreements("list", { env })]) {
      expect(run.code).toBe(1);
      expectOneLine(run, message);
      expect(run.stderr).not.toContain("secret");
    }
  });

  it("refuses the password: one line, and 1", async () => {
    const url = new URL(target.databaseUrl);
    url.password = "wrong-secret";
    const run = await keys("list", { env: { DATABASE_URL: url.href } });
    expect(run.code).toBe(1);
    expectOneLine(run, /password authentication failed/);
    expect(run.stderr).not.toContain("wrong-secret");
  });

  it("is not this service's: one line, and 1", async () => {
    const url = new URL(target.databaseUrl);
    url.pathname = "/postgres";
    const run = await keys("list", { env: { DATABASE_URL: url.href } });
    expect(run.code).toBe(1);
    expectOneLine(run, /npm run db:deploy/);
  });

  it("is found by libpq's variables", async () => {
    const url = new URL(target.databaseUrl);
    const run = await keys("list --json --tier demo", {
      env: {
        PGHOST: url.hostname,
        PGPORT: url.port,
        PGUSER: url.username,
        PGPASSWORD: decodeURIComponent(url.password),
        PGDATABASE: url.pathname.slice(1),
      },
    });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout).length).toBeGreaterThan(0);
  });

  it("is the running stack's where nothing else names one, and it is said so", async () => {
    const STACK_DIRECTORY = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    await writeFile(
      path.join(STACK_DIRECTORY, "stack.json"),
      JSON.stringify({ database_url: target.databaseUrl }),
    );
    // As if this test were a stack that runs.
    const unlock = await lockDirectory(STACK_DIRECTORY);
    const run = await keys("list --json --tier demo", { env: { STACK_DIRECTORY } });
    expect(run.code).toBe(0);
    expect(run.stderr).toBe(`Using the database of the stack that runs on ${STACK_DIRECTORY}.\n`);
    expect(JSON.parse(run.stdout).length).toBeGreaterThan(0);
    await unlock();
    // A process that had this number before.
    const left = JSON.stringify({ pid: process.pid, started: "1" });
    await writeFile(path.join(STACK_DIRECTORY, "stack.lock"), left);
    const stopped = await keys("list", { env: { STACK_DIRECTORY } });
    expect(stopped.code).toBe(1);
    expectOneLine(stopped, /No database is named/);
    await rm(STACK_DIRECTORY, { recursive: true });
  });

  it("may be left when the output cannot be written, which is said", async () => {
    const { code, stderr } = await keys("list > /dev/full");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: the output could not be written: .*\n$/);
  });
});
