import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { useOtherServer } from "../../support/scratch-database.ts";
import { readAll as readParts, run } from "./support.ts";

// Drift: what somebody changes by hand. Roles are changed too, so the server is these tests' own.

let server: ScratchServer;
let url: string;
let client: Client;
const other = useOtherServer();
beforeAll(async () => {
  server = await startScratchServer();
  url = await server.create();
  await deployDatabase(url);
  client = await connect(url, "test");
});
afterAll(async () => {
  await client.end();
  await server.close();
});

const deploy = (...args: string[]) => run(runDeploy, args, { DATABASE_URL: url, SCRATCH_URL: other.url });
const readAll = () => readParts(url);

/** Each a change that a deployment must put back. */
const breaks = [
  "drop view api_v1_1_0.resubmission cascade",
  "alter role api_public bypassrls",
  "alter role gateway reset synchronize_seqscans",
  "alter role gateway set enable_seqscan = off",
  "grant api_tribal to api_public",
  "revoke api_tribal from authenticator",
  "grant select on access.api_keys to api_public",
  "grant select (key_sha256) on access.api_keys to report_service",
  "revoke execute on function access.redeem_access_token(uuid) from report_service",
  "revoke usage on schema access from report_service",
  "alter table suppressed.general disable row level security",
  "create policy everybody on suppressed.findings for select to api_public using (true)",
  "drop policy tribal_access on suppressed.federal_awards",
  "alter view dissemination.general reset (security_invoker)",
  "drop view dissemination.passthrough cascade",
  "drop index disclosed.findings_reference_number",
  "alter function access.verify_key(bytea) owner to publisher",
  "drop function access.prune_access_tokens()",
  "create or replace function access.is_email_address(address text) returns boolean language sql as 'select true'",
  "drop view access.active_keys cascade",
  "drop trigger api_keys_keep on access.api_keys",
  "alter table access.tiers disable trigger tiers_record_event",
  "alter table access.downloads alter column report_id drop not null",
  "alter table access.settings alter column token_retention drop default",
  "alter table publication.data_sets drop constraint data_sets_state_is_known",
  "alter table access.tiers add constraint nobody check (false) not valid",
  "comment on view api_v1_1_0.general is 'changed'",
  "comment on table access.tiers is null",
  "create or replace function request.decide() returns void language sql as ''",
  "create view api_v1_1_0.more as select 1 as one",
  "grant create on schema api_v1_1_0 to gateway",
  "alter default privileges grant execute on functions to public",
  "revoke connect on database :database from authenticator",
  "alter role authenticator connection limit 0",
  "alter role authenticator valid until '2000-01-01'",
  "alter table suppressed.findings inherit disclosed.findings",
  "alter table disclosed.federal_awards disable trigger all",
];

/** All of them in an order that follows from a number, which a failure names. */
function shuffle(seed: number): string[] {
  let state = seed;
  const next = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state;
  };
  return breaks
    .map((statement) => ({ statement, place: next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ statement }) => statement);
}

async function damage(statements: string[]): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  // What another break has taken away cannot be broken again.
  for (const statement of statements)
    await client.query(statement.replace(":database", database)).catch(() => {});
}

describe("drift", () => {
  const seed = Date.now() % 100_000;
  const order = shuffle(seed);
  it.each([
    ["twenty", order.slice(0, 20)],
    ["the other", order.slice(20)],
  ])(
    `of %s kinds is seen by --plan, refused by db:deploy and put back by --accept-drift (order ${seed})`,
    async (_count, chosen) => {
      const before = await readAll();
      await damage(chosen);
      const damaged = await readAll();
      expect(damaged).not.toEqual(before);
      const plan = await deploy("--plan");
      expect([plan.code, plan.output.includes("Changed since the last deployment")]).toEqual([4, true]);
      const refused = await deploy();
      expect([refused.code, refused.output.includes("--accept-drift")]).toEqual([4, true]);
      expect(await readAll()).toEqual(damaged);

      const { code, output } = await deploy("--accept-drift");
      expect([code, output]).toEqual([0, expect.stringContaining("Changed since the last deployment")]);
      expect(await readAll()).toEqual(before);
      const after = await deploy("--plan");
      expect([after.code, after.output]).toEqual([
        0,
        "Nothing to do: the database is in the state of db/.\n",
      ]);
    },
  );

  it("that is not of this project is named, and left alone", async () => {
    await client.query("create table access.notes (text text)");
    await client.query("alter table access.tiers add column motto text");
    await client.query("create index by_hand on disclosed.findings (award_reference)");
    await client.query("create table public.scratch (id integer)");
    await client.query(`alter database ${new URL(url).pathname.slice(1)} set work_mem = '5MB'`);
    await client.query("create role stranger; grant api_tribal to stranger");
    const { code, output } = await deploy("--plan");
    expect(code).toBe(0);
    for (const line of [
      "table access.notes",
      "+ column motto text",
      "+ index by_hand",
      "table public.scratch",
      "+ setting work_mem 5MB",
      "role stranger, which is not of this project",
    ])
      expect(output).toContain(line);
    expect(output).toContain("Nothing to do");
    expect((await deploy()).code).toBe(0);
    const { rows } = await client.query(
      "select count(*)::integer from pg_class where relname in ('notes', 'by_hand', 'scratch')",
    );
    expect(rows[0].count).toBe(3);
    await client.query(
      "drop table access.notes, public.scratch; drop index disclosed.by_hand; drop role stranger",
    );
    await client.query(`alter database ${new URL(url).pathname.slice(1)} reset work_mem`);
    await client.query("alter table access.tiers drop column motto");
  });

  it("is not what becomes of a table that was in public before the first deployment", async () => {
    const elder = await server.create();
    const owner = await connect(elder, "test");
    try {
      await owner.query("create table public.elder (id integer)");
      await deployDatabase(elder);
      await owner.query("drop table public.elder");
      expect((await deployDatabase(elder)).apiSchemasChanged).toBe(false);
    } finally {
      await owner.end();
    }
  });

  it("that has lost data is not papered over", async () => {
    await client.query("begin; drop table access.downloads cascade; commit");
    const { code, output } = await deploy("--accept-drift");
    expect(code).toBe(4);
    expect(output).toContain("Lost, with what was in it");
    expect(output).toContain("- table access.downloads");
  });
});
