import { expect, it } from "vitest";
import { query } from "../support/target.ts";

const list = async (sql: string, values: unknown[] = []) =>
  (await query<{ name: string }>(sql, values)).map(({ name }) => name).sort();

it("every role has exactly the rights that db/contracts/rights.txt lists", async () => {
  const facts =
    "select fact as name from deployment.rights where fact ~ '^\\w+ (may|owns|inherits|has|is|sets) '";
  expect((await list(facts)).length).toBeGreaterThan(300);
  expect(await list("select leak as name from publication.find_leaks(false) as leak")).toEqual([]);
});

const settingsOf = (role: string) =>
  list("select unnest(setconfig) as name from pg_db_role_setting where setrole = $1::regrole", [role]);

it("requests keep the order of the file, and their memory is bounded", async () => {
  // PostgREST may forget the settings of gateway. PostgreSQL applies those of authenticator to each connection.
  expect(await settingsOf("gateway")).toEqual([]);
  expect(await settingsOf("authenticator")).toEqual(
    expect.arrayContaining([
      "enable_indexonlyscan=off",
      "hash_mem_multiplier=1",
      "max_parallel_workers_per_gather=0",
      "random_page_cost=1.1",
      "synchronize_seqscans=off",
      "work_mem=64MB",
    ]),
  );
  // Searches of the pages stop at their first matches, which parallel workers do not.
  for (const role of ["site", "report_service"])
    expect(await settingsOf(role)).toEqual([
      "jit=off",
      "max_parallel_workers_per_gather=0",
      "random_page_cost=1.1",
    ]);
});

it("a transaction of PostgREST ends within seconds if its host is lost", async () => {
  expect(await settingsOf("authenticator")).toContain("idle_in_transaction_session_timeout=30s");
});
