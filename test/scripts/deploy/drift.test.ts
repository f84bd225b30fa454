import { expect, it } from "vitest";
import { runDiff } from "../../../scripts/deploy/diff-program.ts";
import { findServerUrl, useDeployedDatabase } from "../../support/scratch-database.ts";
import { queryOn, run } from "./support.ts";

const database = useDeployedDatabase();

const diff = (...args: string[]) =>
  run(runDiff, ["--against", database.url, ...args], { SCRATCH_URL: findServerUrl() });

it("db:diff exits 0 where the database is what db/ makes", async () => {
  const { code, output } = await diff();
  expect([code, output]).toEqual([0, "No drift: the database is what db/ makes.\n"]);
});

it("db:diff exits 3 and names each object that somebody changed by hand", async () => {
  await queryOn(database.url, "alter table access.tiers add column motto text");
  await queryOn(database.url, "grant select on access.api_keys to api_public");
  await queryOn(database.url, "alter table suppressed.general disable row level security");
  await queryOn(database.url, "create index by_hand on disclosed.findings (reference_number)");
  await queryOn(database.url, "drop function access.prune_access_tokens()");
  await queryOn(database.url, "comment on view api_v1_1_0.general is 'changed'");
  await queryOn(database.url, "create schema by_hand");
  const { code, output } = await diff();
  expect(code).toBe(3);
  for (const line of [
    "~ table access.tiers\n    + column motto text",
    "~ table access.api_keys\n    + grant to api_public select",
    "~ table suppressed.general\n    - row level security on\n    + row level security off",
    "    + index by_hand CREATE INDEX by_hand ON disclosed.findings USING btree (reference_number)",
    "- function access.prune_access_tokens()",
    "~ view api_v1_1_0.general",
    "+ unknown schema by_hand",
  ])
    expect(output).toContain(line);
  const json = await diff("--json");
  expect(JSON.parse(json.output)).toHaveLength(7);
});
