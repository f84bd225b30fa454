import { describe, expect, it } from "vitest";
import { query } from "../../support/target.ts";
import { approveAgreement, ask, issueKey, refusal, requestAgreement, tryAs } from "./support.ts";

const decide = (decision: string) =>
  `decision = '${decision}', decided_at = clock_timestamp(), decided_by_name = 'Ada', decided_by_agency = 'Agency',
   decided_by_email = 'ada@example.gov', reason = 'because'`;

const changes = {
  approve: decide("approved"),
  deny: decide("denied"),
  revoke: "revoked_at = clock_timestamp()",
  "approve and revoke at once": `${decide("approved")}, revoked_at = clock_timestamp()`,
  "approve under another name": `${decide("approved")}, organisation = 'Other'`,
  "take the decision back":
    "decision = null, decided_at = null, decided_by_name = null, decided_by_agency = null, decided_by_email = null, reason = null",
  "take the revocation back": "revoked_at = null",
  "move the revocation": "revoked_at = now() + interval '1 day'",
  "revoke under another contact": "revoked_at = clock_timestamp(), contact_email = 'other@example.gov'",
  "change the organisation": "organisation = 'Other'",
  "change the contact": "contact_email = 'other@example.gov'",
  "change the day of the request": "requested_at = requested_at - interval '1 day'",
  "change the official": "decided_by_name = 'Other'",
  "change the reason": "reason = 'other'",
};
type Change = keyof typeof changes;

const states: Record<string, { reach: Change[]; allowed: Change[]; same: Change[] }> = {
  requested: {
    reach: [],
    allowed: ["approve", "deny"],
    same: ["take the decision back", "take the revocation back"],
  },
  approved: {
    reach: ["approve"],
    allowed: ["revoke", "move the revocation"],
    same: ["take the revocation back"],
  },
  denied: { reach: ["deny"], allowed: [], same: ["take the revocation back"] },
  revoked: { reach: ["approve", "revoke"], allowed: [], same: [] },
};

describe.each(Object.entries(states))("an agreement that is %s", (state, { reach, allowed, same }) => {
  for (const change of Object.keys(changes) as Change[]) {
    // What sets null to null changes nothing.
    if (same.includes(change)) continue;
    const isAllowed = allowed.includes(change);
    it(`${isAllowed ? "lets" : "does not let"} an update ${change}`, async () => {
      const id = await requestAgreement();
      const update = (name: Change): [string, unknown[]] => [
        `update access.tribal_access_agreements set ${changes[name]} where id = $1`,
        [id],
      ];
      const statements = [...reach, change].map(update);
      if (isAllowed) await tryAs("postgres", ...statements);
      else
        expect(await refusal(...statements)).toBe(`The agreement ${id} is ${state}: this change is refused.`);
    });
  }
});

describe("an agreement", () => {
  it.each([
    [
      "decided from the start",
      `decision, decided_at, decided_by_name, decided_by_agency, decided_by_email`,
      `'approved', now(), 'a', 'b', 'c@example.gov'`,
    ],
    ["revoked from the start", "revoked_at", "now()"],
  ])("cannot be %s", async (_what, columns, values) => {
    expect(
      await refusal(
        `insert into access.tribal_access_agreements (organisation, contact_email, ${columns}) values ('a', 'a@example.gov', ${values})`,
      ),
    ).toBe("An agreement is requested before it is decided.");
  });

  it.each(["delete from", "truncate", "truncate"])("is never removed: %s", async (statement) => {
    const cascade = statement === "truncate" ? "cascade" : "";
    expect(await refusal(`${statement} access.tribal_access_agreements ${cascade}`)).toMatch(
      /keeps its rows/,
    );
  });

  it.each([
    ["a decision that is neither", ["maybe", "Ada", "Agency", "ada@example.gov", null], /approved or denied/],
    ["no official", ["approved", " ", "Agency", "ada@example.gov", null], /official is blank/],
    ["no agency", ["approved", "Ada", "", "ada@example.gov", null], /official is blank/],
    ["an official without an address", ["approved", "Ada", "Agency", "ada", null], /not an e-mail address/],
    ["a denial without a reason", ["denied", "Ada", "Agency", "ada@example.gov", null], /must have a reason/],
  ])("is not decided with %s", async (_what, values, message) => {
    const id = await requestAgreement();
    expect(
      await refusal(["select access.decide_agreement($1, $2, $3, $4, $5, $6)", [id, ...values]]),
    ).toMatch(message);
  });

  it("is not requested without a name or with a wrong address", async () => {
    expect(await refusal("select access.request_agreement(' ', 'a@example.gov')")).toMatch(/blank/);
    expect(await refusal("select access.request_agreement('a', 'a@example')")).toMatch(/not an e-mail/);
  });

  it("that is unknown is neither decided nor revoked", async () => {
    const id = "00000000-0000-4000-8000-000000000000";
    expect(await refusal(["select access.revoke_agreement($1)", [id]])).toBe(`There is no agreement ${id}.`);
    expect(
      await refusal(["select access.decide_agreement($1, 'approved', 'a', 'b', 'a@example.gov')", [id]]),
    ).toBe(`There is no agreement ${id}.`);
  });

  it("that is revoked opens the service to none of its keys", async () => {
    const id = await approveAgreement();
    const { id: keyId } = await issueKey("tribal", id);
    const isActive = () =>
      ask<boolean>("select exists (select from access.active_keys where id = $1)", [keyId]);
    expect(await isActive()).toBe(true);
    await query("select access.revoke_agreement($1)", [id]);
    expect(await isActive()).toBe(false);
    expect(await ask("select status from access.key_overview where id = $1", [keyId])).toBe(
      "agreement revoked",
    );
  });
});
