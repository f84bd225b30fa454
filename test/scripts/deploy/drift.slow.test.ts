import { expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { useOtherServer } from "../../support/scratch-database.ts";
import { readAll, run, runDeploy, useOwnServer } from "./support.ts";

// Drift is what somebody changed by hand, including roles.

const other = useOtherServer();
const own = useOwnServer(({ url }) => deployDatabase(url));
const deploy = (args: string[]) => run(runDeploy, args, { DATABASE_URL: own.url, SCRATCH_URL: other.url });
const expectDeploy = async (args: string[], code: number, text: string | RegExp) =>
  expect(await deploy(args)).toMatchObject({ code, output: expect.stringMatching(text) });

/** Changes that no later deployment or refresh undoes, each with its line in the plan. */
const durable = {
  "alter role gateway set enable_seqscan = off": "+ alter role gateway set enable_seqscan = 'off'",
  "alter role authenticator reset synchronize_seqscans":
    "- alter role authenticator set synchronize_seqscans = 'off'",
  "alter table access.settings alter column token_retention set default '1 day'":
    "token_retention set default '1 day'::interval",
  "alter table access.downloads alter column report_id drop not null":
    "- alter table access.downloads alter column report_id set not null",
  "alter table publication.data_sets drop constraint data_sets_state_is_known":
    "- alter table publication.data_sets add constraint data_sets_state_is_known",
  "create table access.notes (text text)": "+ table access.notes",
  "alter table access.tiers add column motto text": "+ alter table access.tiers add column motto text",
  "comment on table access.tiers is null": "- comment on table access.tiers is",
  "create index by_hand on access.downloads (report_id)": "+ CREATE INDEX by_hand",
  "update access.tiers set requests_at_a_time = 1 where name = 'demo'": '+ "requests_at_a_time": 1',
  "insert into access.tiers (name, database_role, statement_timeout) values ('extra', 'api_public', '1 s')":
    "+ row of access.tiers extra",
  "delete from access.tiers where name = 'individual'": "- row of access.tiers individual",
  "update access.settings set token_retention = '1 year'": '+ "token_retention": "1 year"',
  // Roles find what is in public, even if they may not use it yet.
  "create function public.helper() returns integer language sql as 'select 1'": "+ function public.helper()",
  "create operator public.=== (leftarg = text, rightarg = text, function = texteq)":
    "+ operator public.===(pg_catalog.text,pg_catalog.text)",
  "create type public.span as range (subtype = integer)": "+ type public.span",
  "create text search configuration public.search (copy = pg_catalog.simple)":
    "+ text search configuration public.search",
  "create extension hstore schema public": "+ extension hstore",
  "alter role all set work_mem = '5MB'": "+ setting work_mem of all roles",
  "create operator family access.family using btree": "+ operator family access.family USING btree",
};

it("durable drift is listed by --plan, refused by db:deploy, and accepted and listed by --accept-drift", async () => {
  const before = await readAll(own.url);
  for (const change of Object.keys(durable)) await own.client.query(change);
  const { code, output } = await deploy(["--plan"]);
  expect(code).toBe(4);
  for (const [change, line] of Object.entries(durable)) expect(output, change).toContain(line);
  await expectDeploy(["--json"], 4, /"kind": "drift"/);
  const damaged = await readAll(own.url);
  await expectDeploy(["--accept-drift"], 0, /\+ table access\.notes/);
  // The deployment repaired nothing. Drift that was accepted is no drift any more.
  expect(await readAll(own.url)).toEqual(damaged);
  await expectDeploy(["--plan"], 0, /^Nothing to deploy\.\nPlan \w+\n$/);
  // The plan's SQL undoes everything.
  const [, undo = ""] = /To undo them[^\n]*\n([\s\S]*?)^-- End/m.exec(output) ?? [];
  await own.client.query(undo);
  expect(await readAll(own.url)).toEqual(before);
  await expectDeploy(["--accept-drift"], 0, "");
  await expectDeploy(["--plan"], 0, /^Nothing to deploy\.\nPlan \w+\n$/);
});

it("a deployment says that it cannot check for drift if catalog.sql has changed, and rebuilds the API; the plan lists the drift", async () => {
  await own.client.query(
    `create table access.by_hand (); comment on view api_v1_1_0.general is 'changed';
     update deployment.api_schemas set fingerprint = fingerprint || '{"query": "older"}'`,
  );
  const unknown = "This deployment cannot check for changes made by hand since the last one";
  await expectDeploy(["--plan"], 3, new RegExp(`${unknown}[\\s\\S]*\\+ table access\\.by_hand`));
  await expectDeploy([], 0, new RegExp(`${unknown}[\\s\\S]*The API schemas were rebuilt`));
  await own.client.query("drop table access.by_hand");
  await expectDeploy([], 4, "this database was changed by hand");
  await expectDeploy(["--accept-drift"], 0, "");
});

it("drift in the API, functions and triggers is repaired by the next deployment", async () => {
  const before = await readAll(own.url);
  await own.client.query(
    `revoke execute on function access.redeem_access_token(uuid) from report_service;
     drop trigger api_keys_keep on access.api_keys; alter table access.events disable trigger user;
     create or replace function access.refuse_removal() returns trigger language plpgsql as 'begin return null; end';
     drop function access.prune_access_tokens()`,
  );
  await own.client.query(
    "drop view api_v1_1_0.resubmission cascade; comment on view api_v1_1_0.general is 'changed'; create or replace function request.find_retirement(profile text) returns jsonb language sql as 'select null::jsonb'",
  );
  await expectDeploy(
    ["--plan"],
    3,
    /Missing: report_service may execute[\s\S]*\+ function access\.prune_access_tokens[\s\S]*\+ trigger api_keys_keep[\s\S]*\+ view api_v1_1_0\.resubmission/,
  );
  await expectDeploy([], 0, /The API schemas, functions or rights were changed by hand/);
  expect(await readAll(own.url)).toEqual(before);
});

it("an index made by hand on the data set is drift, which a deployment that accepts drift drops", async () => {
  await own.client.query("create index by_hand on disclosed.findings (award_reference)");
  await expectDeploy(["--plan"], 4, /\+ CREATE INDEX by_hand/);
  await expectDeploy(["--accept-drift"], 0, /The index disclosed\.by_hand/);
  await expectDeploy(["--plan"], 0, /^Nothing to deploy\./);
});

it("rights that the list lacks are refused, even if drift is accepted", async () => {
  await own.client.query("grant select on access.access_tokens to key_operator");
  const revoke = "revoke select on table access.access_tokens from key_operator cascade";
  const line = new RegExp(`Unlisted: key_operator may select.* Run: ${revoke}`);
  await expectDeploy(["--plan"], 1, line);
  await expectDeploy(["--accept-drift"], 1, line);
  await own.client.query(revoke);
  await expectDeploy([], 0, "");
});
