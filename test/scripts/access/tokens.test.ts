import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ask, issueKey, refusal, tryAs } from "./support.ts";

type Statement = [string, unknown[]];
interface Download extends Record<string, unknown> {
  api_key_id: string;
  redeemed: boolean;
}

const issue = async (): Promise<{ keyId: string; report: string; statements: Statement[] }> => {
  const { id: keyId } = await issueKey();
  const report = randomUUID();
  return {
    keyId,
    report,
    statements: [
      ["select set_config('request.api_key_id', $1, true)", [keyId]],
      ["create temporary table token as select * from access.issue_access_token($1)", [report]],
    ],
  };
};
const readDownloads = (report: string): Statement => [
  "select api_key_id, redeemed_at is not null as redeemed from access.downloads where report_id = $1",
  [report],
];

describe("a download", () => {
  it("is written down with its token: which key, which report", async () => {
    const { keyId, report, statements } = await issue();
    expect(await tryAs<Download>("postgres", ...statements, readDownloads(report))).toEqual([
      { api_key_id: keyId, redeemed: false },
    ]);
  });

  it("is redeemed with its token", async () => {
    const { keyId, report, statements } = await issue();
    const rows = await tryAs<Download>(
      "postgres",
      ...statements,
      "select access.redeem_access_token(access_uuid) from token",
      readDownloads(report),
    );
    expect(rows).toEqual([{ api_key_id: keyId, redeemed: true }]);
  });

  it("is not redeemed when the redemption is rolled back", async () => {
    const { report, statements } = await issue();
    const rows = await tryAs<Download>(
      "postgres",
      ...statements,
      "savepoint storage",
      "select access.redeem_access_token(access_uuid) from token",
      "rollback to storage",
      readDownloads(report),
    );
    expect(rows.map(({ redeemed }) => redeemed)).toEqual([false]);
  });

  it("belongs to every token, however it is made", async () => {
    const { id } = await issueKey();
    const report = randomUUID();
    const rows = await tryAs(
      "postgres",
      [
        "insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at) values (sha256('x'), $1, $2, now())",
        [id, report],
      ],
      readDownloads(report),
    );
    expect(rows).toHaveLength(1);
  });

  it.each([
    ["the report", "report_id = 'other'"],
    ["the key", "api_key_id = (select id from access.api_keys where tier = 'demo')"],
    ["the time", "requested_at = now() - interval '1 day'"],
    ["nothing at all", "redeemed_at = redeemed_at"],
    ["the report on redemption", "redeemed_at = now(), report_id = 'other'"],
  ])("does not change: %s", async (_what, change) => {
    const { report, statements } = await issue();
    expect(
      await refusal(...statements, [`update access.downloads set ${change} where report_id = $1`, [report]]),
    ).toMatch(/only redeemed_at may be set, once/);
  });

  it.each(["redeemed_at = null", "redeemed_at = now() + interval '1 s'"])(
    "is redeemed once: then %s is refused, and its token stays spent",
    async (change) => {
      for (const table of ["downloads", "access_tokens"]) {
        const { report, statements } = await issue();
        expect(
          await refusal(...statements, "select access.redeem_access_token(access_uuid) from token", [
            `update access.${table} set ${change} where report_id = $1`,
            [report],
          ]),
        ).toMatch(/only redeemed_at may be set, once/);
      }
    },
  );

  it.each(["delete from access.downloads", "truncate access.downloads cascade"])(
    "is never removed: %s",
    async (statement) => {
      expect(await refusal(statement)).toMatch(/access.downloads keeps its rows/);
    },
  );
});

describe("pruning", () => {
  const insertToken = (
    keyId: string,
    report: string,
    expired: string,
    redeemed: string | null,
  ): Statement => [
    `insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at, redeemed_at)
     values (sha256(uuid_send(gen_random_uuid())), $1, $2, now() - $3::interval, now() - $4::interval)`,
    [keyId, report, expired, redeemed],
  ];
  const prune: Statement[] = [
    ["set local role publisher", []],
    ["create temporary table pruned as select access.prune_access_tokens() as count", []],
    ["reset role", []],
  ];

  async function pruneTokens(retention?: string) {
    const { id } = await issueKey();
    const report = randomUUID();
    const [row] = await tryAs<{ count: string; kept: string[]; downloads: string }>(
      "postgres",
      // What other tests have left is not counted.
      "delete from access.access_tokens",
      ...(retention === undefined ? [] : [`update access.settings set token_retention = '${retention}'`]),
      insertToken(id, `${report} expired 91`, "91 days", null),
      insertToken(id, `${report} expired 89`, "89 days", null),
      insertToken(id, `${report} spent 91`, "91 days", "91 days"),
      insertToken(id, `${report} spent 89`, "89 days", "89 days"),
      insertToken(id, `${report} valid`, "-1 minute", null),
      "grant create on schema public to publisher",
      "grant temporary on database single_audit to publisher",
      ...prune,
      [
        `select (select count from pruned),
           (select count(*) from access.downloads where starts_with(report_id, $1)) as downloads,
           array(select substr(report_id, 38) from access.access_tokens order by report_id) as kept`,
        [report],
      ],
    );
    return row;
  }

  it("removes what was spent or expired more than 90 days ago, and keeps the downloads", async () => {
    expect(await pruneTokens()).toEqual({
      count: "2",
      downloads: "5",
      kept: ["expired 89", "spent 89", "valid"],
    });
  });

  it("keeps tokens as long as the settings say", async () => {
    expect((await pruneTokens("100 days"))?.kept).toHaveLength(5);
    expect((await pruneTokens("1 day"))?.kept).toEqual(["valid"]);
  });

  it("is for the publisher and no other role", async () => {
    for (const role of ["api_public", "api_tribal", "gateway", "report_service"]) {
      await expect(tryAs(role, "select access.prune_access_tokens()"), role).rejects.toThrow(
        /permission denied/,
      );
    }
  });

  it("has one row of settings", async () => {
    expect(await refusal("insert into access.settings default values")).toMatch(/settings_pkey/);
    expect(await refusal("insert into access.settings values (false)")).toMatch(/settings_has_one_row/);
    expect(await ask("select token_retention::text from access.settings")).toBe("90 days");
  });
});
