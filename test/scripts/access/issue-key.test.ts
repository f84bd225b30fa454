import { describe, expect, it } from "vitest";
import { query, target } from "../../support/target.ts";
import { approveAgreement, ask, expectOneLine, keys, makeOwner, requestAgreement, shell } from "./support.ts";

const keyForm = /^[a-z]+_[A-Za-z0-9]{32}[0-9a-f]{8}$/;
const readPrefix = (key: string) => key.split("_")[1]?.slice(0, 6) ?? "";
const unknown = "00000000-0000-4000-8000-000000000000";
const countKeys = (owner: string) =>
  ask<number>("select count(*)::int from access.api_keys where owner_email = $1", [owner]);

describe("keys issue", () => {
  it("prints the key once, with what it is", async () => {
    const owner = makeOwner();
    const { code, stdout, stderr } = await keys(`issue --tier individual --owner ${owner} --label 'a label'`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const key = /^The key, shown this once:\n\n {2}(\S+)\n/.exec(stdout)?.[1] ?? "";
    expect(key).toMatch(keyForm);
    expect(stdout.split(key)).toHaveLength(2);
    for (const text of [owner, "a label", "individual", "never", readPrefix(key)])
      expect(stdout).toContain(text);
    const later = await keys(`show ${readPrefix(key)} --json`);
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
    expect(stdout).toMatch(/^individual_[A-Za-z0-9]{40}\n$/);
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
