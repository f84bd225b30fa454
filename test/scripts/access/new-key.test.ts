import { createHash } from "node:crypto";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { query, target } from "../../support/target.ts";
import { approveAgreement, ask, issueKey, refusal, requestAgreement, tryAs } from "./support.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest();

describe("a tier", () => {
  it.each(["", "Gold", "gold_2", "2nd", "größe", "gold\n"])(
    "is not named %j: keys could not begin with it",
    async (name) => {
      const insert =
        "insert into access.tiers (name, database_role, statement_timeout) values ($1, 'api_public', '1 s')";
      expect(await refusal([insert, [name]])).toMatch(/tiers_name_can_begin_a_key/);
    },
  );

  it.each([
    ["for another name", "insert into access.tiers values ('second', 'api_tribal', '1 s')"],
    ["by an update", "update access.tiers set database_role = 'api_tribal' where name = 'individual'"],
  ])("does not open suppressed rows %s, where no agreement would be asked for", async (_how, sql) => {
    expect(await refusal(sql)).toMatch(/tiers_only_tribal_sees_suppressed/);
  });
});

describe("a new key", () => {
  it("is its tier, 32 random letters and digits, and a checksum", async () => {
    const { key } = await issueKey();
    expect(key).toMatch(/^individual_[A-Za-z0-9]{32}[0-9a-f]{8}$/);
    expect(key.slice(-8)).toBe(sha256(key.slice(0, -8)).toString("hex").slice(0, 8));
    const tribal = await issueKey("tribal", await approveAgreement());
    expect(tribal.key).toMatch(/^tribal_/);
  });

  it("is stored as its SHA-256 and the first characters after its tier, and nowhere as it is", async () => {
    const { id, key } = await issueKey();
    const [row] = await query<{ key_sha256: Buffer; key_prefix: string; row: string }>(
      "select key_sha256, key_prefix, api_keys::text as row from access.api_keys where id = $1",
      [id],
    );
    expect(row?.key_sha256).toEqual(sha256(key));
    expect(row?.key_prefix).toBe(key.slice("individual_".length, "individual_".length + 6));
    expect(row?.row).not.toContain(key);
  });

  it("is another one each time", async () => {
    const issued = await Promise.all(Array.from({ length: 5 }, () => issueKey()));
    expect(new Set(issued.map(({ key }) => key)).size).toBe(5);
  });

  it("lives 6 months if it is Tribal, and for ever if not, unless told otherwise", async () => {
    const life = "select expires_at = created_at + interval '6 months' from access.api_keys where id = $1";
    expect(await ask(life, [(await issueKey("tribal", await approveAgreement())).id])).toBe(true);
    expect(await ask(life, [(await issueKey()).id])).toBeNull();
    const [row] = await tryAs<{ same: boolean }>(
      "postgres",
      "select access.issue_key('individual', 'told@example.gov', '', '2999-01-01Z')",
      "select expires_at = '2999-01-01Z' as same from access.api_keys where owner_email = 'told@example.gov'",
    );
    expect(row).toEqual({ same: true });
  });

  const wrongAddresses = [
    "",
    "ada",
    "ada@",
    "@example.gov",
    "ada@example",
    "a b@example.gov",
    "a@b@c.gov",
    "ada@example.gov\n",
    "ada@example..gov",
    "<ada@example.gov>",
    `${"a".repeat(250)}@example.gov`,
  ];
  it.each(wrongAddresses)("is not issued to the address %j, by function or by row", async (address) => {
    expect(await refusal(["select access.issue_key('individual', $1)", [address]])).toBe(
      `"${address}" is not an e-mail address.`,
    );
    expect(
      await refusal([
        "insert into access.api_keys (tier, owner_email, key_sha256, key_prefix) values ('individual', $1, sha256('x'), 'xxxxxx')",
        [address],
      ]),
    ).toMatch(/email_address_has_the_form/);
  });

  it.each(["ada@example.gov", "ada.b+c@mail-1.example.gov", "jörg@example.gov"])(
    "is issued to the address %s",
    async (address) => {
      await tryAs("postgres", ["select access.issue_key('individual', $1)", [address]]);
    },
  );

  it("is not issued for an unknown tier", async () => {
    expect(await refusal("select access.issue_key('gold', 'a@example.gov')")).toBe(
      'There is no tier "gold".',
    );
  });

  it("is not issued with an end that has passed", async () => {
    expect(await refusal("select access.issue_key('individual', 'a@example.gov', '', now())")).toMatch(
      /expired before/,
    );
  });

  it("does not store more than its first characters", async () => {
    expect(
      await refusal(
        "insert into access.api_keys (tier, owner_email, key_sha256, key_prefix) values ('individual', 'a@example.gov', sha256('x'), 'xxxxxxxxx')",
      ),
    ).toMatch(/prefix_is_short/);
  });
});

describe("a Tribal key", () => {
  const insert = `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix, expires_at, agreement_id)
    values ('tribal', 'a@example.gov', sha256('x'), 'xxxxxx', now() + interval '1 day', $1)`;
  const agreements: Record<string, () => Promise<string | null>> = {
    "no agreement": async () => null,
    "an agreement that is only requested": requestAgreement,
    "a denied agreement": async () => {
      const id = await requestAgreement();
      await query("select access.decide_agreement($1, 'denied', 'a', 'b', 'a@example.gov', 'why')", [id]);
      return id;
    },
    "a revoked agreement": async () => {
      const id = await approveAgreement();
      await query("select access.revoke_agreement($1)", [id]);
      return id;
    },
    "an unknown agreement": async () => "00000000-0000-4000-8000-000000000000",
  };
  it.each(Object.entries(agreements))("does not come to be under %s", async (_what, make) => {
    const id = await make();
    expect(await refusal(["select access.issue_key('tribal', 'a@example.gov', '', null, $1)", [id]])).toMatch(
      /agreement/,
    );
    expect(await refusal([insert, [id]])).toMatch(/agreement/);
  });

  it("comes to be under an approved one", async () => {
    await tryAs("postgres", [insert, [await approveAgreement()]]);
  });

  it("must have an end", async () => {
    const id = await approveAgreement();
    expect(await refusal([insert.replace("now() + interval '1 day'", "null"), [id]])).toMatch(
      /api_keys_tribal_expires/,
    );
  });

  it("alone has an agreement", async () => {
    const id = await approveAgreement();
    expect(
      await refusal(["select access.issue_key('individual', 'a@example.gov', '', null, $1)", [id]]),
    ).toMatch(/Only a Tribal key/);
    expect(await refusal([insert.replace("'tribal'", "'individual'"), [id]])).toMatch(
      /api_keys_tribal_has_an_agreement/,
    );
  });

  it("holds a revocation of its agreement back until it is there", async () => {
    const id = await approveAgreement();
    const client = new Client({ connectionString: target.databaseUrl });
    await client.connect();
    try {
      await client.query("begin");
      await client.query("select access.issue_key('tribal', 'a@example.gov', '', null, $1)", [id]);
      expect(
        await refusal("set local lock_timeout = '200ms'", ["select access.revoke_agreement($1)", [id]]),
      ).toMatch(/lock timeout/);
    } finally {
      await client.end();
    }
  });
});
