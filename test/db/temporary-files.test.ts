import { beforeAll, expect, it } from "vitest";
import { usePublishedDatabase } from "../support/scratch-database.ts";
import { startScratchService } from "../support/scratch-service.ts";

// The temporary files of requests. 30,000 awards take 12 MB, which is more than PostgreSQL's default work_mem of 4 MB.

const database = usePublishedDatabase();
const largePage = "/federal_awards?order=federal_program_name.desc&limit=20000";

beforeAll(async () => {
  const { client } = database;
  await client.query(`
    insert into disclosed.general (report_id, auditee_uei, is_public) values ('R1', 'UEI', true);
    insert into disclosed.federal_awards (report_id, auditee_uei, award_reference, federal_program_name)
    select 'R1', 'UEI', n, md5(n::text) || repeat('x', 300) from generate_series(1, 30000) as n`);
  await client.query("vacuum analyze disclosed.federal_awards");
});

const countFiles = async () => {
  await database.client.query("select pg_stat_force_next_flush(), pg_stat_clear_snapshot()");
  const { rows } = await database.client.query(
    "select temp_files::integer as files from pg_stat_database where datname = current_database()",
  );
  return rows[0].files as number;
};

it("a page of 20,000 sorted rows writes no file", async () => {
  await database.client.query("alter role authenticator password 'authenticator'");
  const url = Object.assign(new URL(database.url), { username: "authenticator", password: "authenticator" });
  const service = await startScratchService(url.href);
  const before = await countFiles();
  const { status, json } = await service.request(largePage);
  // PostgreSQL reports what a session wrote at its end, at the latest.
  await service.stop();
  expect([status, (json as object[]).length, await countFiles()]).toEqual([200, 20_000, before]);
});

it("a request that would exceed the limit is refused, and the next one is served", async () => {
  const url = new URL(database.url);
  url.search = `options=${encodeURIComponent("-c work_mem=64kB -c temp_file_limit=1MB")}`;
  const service = await startScratchService(url.href);
  try {
    const { status, json } = await service.request(largePage);
    expect([status >= 500, json]).toMatchObject([true, { code: "53400" }]);
    expect((await service.request("/federal_awards?limit=1")).status).toBe(200);
  } finally {
    await service.stop();
  }
});

it("the limit applies to PostgREST's connections", async () => {
  const { rows } = await database.client.query(
    "select setting from pg_db_role_setting cross join unnest(setconfig) as setting where setrole = 'authenticator'::regrole",
  );
  expect(rows).toContainEqual({ setting: "temp_file_limit=2GB" });
});
