import { expect, it } from "vitest";
import { type DeploymentOptions, deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { publishSample, useCopy, useOwnServer } from "./support.ts";

const copy = useCopy();
const own = useOwnServer(async ({ url, client }) => {
  await deployDatabase(url);
  await publishSample(client);
});

const deploy = (options: DeploymentOptions = {}) =>
  deployDatabase(
    own.url,
    {},
    {
      directory: copy.directory,
      acceptsDrift: () => true,
      takesRights: true,
      ...options,
    },
  );
const select = async (expression: string) =>
  (await own.client.query(`select ${expression} as found`)).rows[0]?.found;
const mayRun = (role: string) =>
  select(`has_function_privilege('${role}', 'publication.is_switched_on()', 'execute')`);

it("a deployment replaces a changed function, and takes back what its file no longer grants or what was changed by hand", async () => {
  const file = "functions/publication/is_switched_on.sql";
  await copy.edit(file, (text) =>
    text
      .replace("select service.is_on", "select not not service.is_on")
      .replace("to site;", "to report_service;"),
  );
  await own.client.query(
    "grant execute on function publication.is_switched_on to key_operator; alter function publication.live_data_set owner to publisher",
  );
  expect(await mayRun("site")).toBe(true);
  await deploy();
  for (const role of ["site", "key_operator"]) expect(await mayRun(role)).toBe(false);
  expect(await mayRun("report_service")).toBe(true);
  const owners =
    "(select count(distinct proowner)::integer from pg_proc where proname ~ '^(live_data_set|is_switched_on)$')";
  expect(await select(owners)).toBe(1);
  expect(await select("pg_get_functiondef('publication.is_switched_on()'::regprocedure)")).toContain(
    "not not",
  );
});

it("a deployment drops earlier signatures, and functions and triggers that no file has", async () => {
  const list = async () => {
    const { rows } = await own.client.query<{ signature: string }>(
      "select oid::regprocedure || ' ' || prorettype::regtype as signature from pg_proc where proname ~ '^(revoke_key|helper)' order by 1",
    );
    return rows.map(({ signature }) => signature);
  };
  await own.client.query(
    `create function publication.helper() returns integer language sql return 1;
     create function publication.helper_of() returns integer language sql return publication.helper();
     create trigger by_hand before update on access.tiers for each row execute function suppress_redundant_updates_trigger()`,
  );
  const file = "functions/access/revoke_key.sql";
  await copy.edit(file, (text) => text.replace("(key_id uuid)", "(key_id uuid, reason text default '')"));
  await deploy();
  expect(await list()).toEqual(["access.revoke_key(uuid,text) timestamp with time zone"]);
  expect(await select("exists (select from pg_trigger where tgname = 'by_hand')")).toBe(false);
  // PostgreSQL does not replace a function by one that returns another type.
  await copy.edit(file, (text) => text.replace("returns timestamptz", "returns text"));
  await deploy();
  expect(await list()).toEqual(["access.revoke_key(uuid,text) text"]);
  await copy.edit(file, (text) => text.replaceAll("access.revoke_key", "access.revoke_one"));
  await expect(deploy()).rejects.toThrow("do not create the function that they are named after");
  await deployDatabase(own.url);
  expect(await list()).toEqual(["access.revoke_key(uuid) timestamp with time zone"]);
});

it("a deployment refuses to drop a function that a table needs", async () => {
  await copy.remove("functions/extensions/uuid_v7.sql");
  await expect(deploy()).rejects.toThrow(
    /uuid_v7[\s\S]*default value for column id of table access\.downloads[\s\S]*Keep the function/,
  );
});

it("a migration may use a new function of extensions, and a broken function is refused with its place", async () => {
  await copy.write(
    "functions/extensions/double.sql",
    "create or replace function extensions.double(number integer) returns integer language sql immutable return number * 2;\n",
  );
  await copy.migrate(
    "create table deployment.doubled (number integer, twice integer default extensions.double(2))",
  );
  await deploy();
  await own.client.query(
    "drop table deployment.doubled; delete from deployment.migrations where name ~ '^2099'",
  );
  await copy.edit("functions/access/verify_key.sql", (text) =>
    text.replace("from access.api_keys", "from access.api_kees"),
  );
  await copy.remove("migrations/20991231000000001_step.sql");
  await expect(deploy()).rejects.toThrow(/verify_key\.sql:\d+:8: relation "access\.api_kees" does not exist/);
});

it("a deployment that changes a function rebuilds the indexes that call it", async () => {
  const lines: string[] = [];
  const find = async (word: string) => {
    await own.client.query("begin; set local enable_seqscan = off");
    const { rows } = await own.client.query(
      `select count(*)::integer as found from disclosed.general where extensions.name_words(auditee_name) @@ '${word}'`,
    );
    await own.client.query("rollback");
    return rows[0]?.found;
  };
  const all = await select("(select count(auditee_name)::integer from disclosed.general)");
  expect(await find("zzz")).toBe(0);
  // name_words() calls it.
  await copy.edit("functions/extensions/split_name.sql", (text) =>
    text.replace("return pg_catalog.regexp_replace(", "return 'zzz ' || pg_catalog.regexp_replace("),
  );
  await copy.edit("functions/extensions/name_words.sql", (text) =>
    text.replace("when name ~ '[^a-zA-Z0-9 ,]'", "when name ~ '.'"),
  );
  const indexes = () =>
    select(
      "(select array_agg(indexrelid::regclass::text order by indexrelid::regclass::text) from pg_index where indrelid = 'disclosed.general'::regclass and indisvalid)",
    );
  const before = await indexes();
  // As a deployment leaves it whose connection is lost.
  await own.client.query("create index general_auditee_name_words_next on disclosed.general (report_id)");
  await deploy({ report: (line) => void lines.push(line) });
  expect(await indexes()).toEqual(before);
  expect(lines.join("\n")).toContain("Building the index disclosed.general_auditee_name_words");
  expect(await find("zzz")).toBe(all);
  await deployDatabase(own.url);
  expect(await find("zzz")).toBe(0);
});
