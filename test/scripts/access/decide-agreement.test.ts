import { describe, expect, it } from "vitest";
import { query } from "../../support/target.ts";
import { agreements, approveAgreement, ask, expectOneLine, issueKey, requestAgreement } from "./support.ts";

const unknown = "00000000-0000-4000-8000-000000000000";
const official = `--official 'Ada Official' --agency 'Department of Examples' --email ada@example.gov`;

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
    expect(revoked.stdout).toMatch(/^Keys revoked: 1\n\n/);
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
