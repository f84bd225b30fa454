import { describe, expect, it } from "vitest";
import { query } from "../../support/target.ts";
import { approveAgreement, ask, expectOneLine, issueKey, keys, makeOwner, shellKeys } from "./support.ts";

const keyForm = /^individual_[A-Za-z0-9]{40}$/;
const readPrefix = (key: string) => key.split("_")[1]?.slice(0, 6) ?? "";
const unknown = "00000000-0000-4000-8000-000000000000";

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
    expect(head).toMatch(/^KEY PREFIX +TIER +OWNER EMAIL +LABEL +STATUS +EXPIRES AT +LAST USED ON$/);
    expect(line).toMatch(
      new RegExp(`^${readPrefix(key)} +individual +${row?.owner} +test +active +never +never$`),
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
    const { code, stdout } = await keys(`show ${readPrefix(key)}`);
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
    const run = await shellKeys("verify", { stdin: `${key}\n` });
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
      expect(await shellKeys("verify", { stdin })).toEqual({
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
