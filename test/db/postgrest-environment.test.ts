import { expect, it, onTestFinished } from "vitest";
import { dotenv } from "zx";
import { usePublishedDatabase } from "../support/scratch-database.ts";
import { startScratchService } from "../support/scratch-service.ts";

const database = usePublishedDatabase();

it("scripts/stack/postgrest.env has the same settings as request.pre_config()", async () => {
  const { PGRST_DB_PRE_CONFIG, PGRST_DB_POOL_MAX_LIFETIME, PGRST_DB_MAX_ROWS, ...repeated } = dotenv.load(
    "scripts/stack/postgrest.env",
  );
  await database.client.query(`select ${PGRST_DB_PRE_CONFIG}()`);
  for (const [name, value] of Object.entries(repeated)) {
    const setting = name.toLowerCase().replace("pgrst_", "pgrst.");
    const { rows } = await database.client.query("select current_setting($1) as value", [setting]);
    expect({ name, value }).toEqual({ name, value: rows[0].value });
  }
});

it("the environment alone limits the rows of a response, as in docker-compose.small.yml", async () => {
  await database.client.query(
    `insert into disclosed.general (report_id, auditee_uei, is_public)
     select 'R' || n, 'UEI', true from generate_series(1, 3) as n`,
  );
  const service = await startScratchService(database.url, { PGRST_DB_MAX_ROWS: "2" });
  onTestFinished(service.stop);
  expect((await service.request("/general?limit=3")).json).toHaveLength(2);
});

it("PostgREST refuses and answers the same requests if request.pre_config() is missing", async () => {
  await database.client.query("alter function request.pre_config rename to cannot_be_read");
  const service = await startScratchService(database.url);
  onTestFinished(service.stop);
  const statusOf = async (path: string, headers = {}) => (await service.request(path, { headers })).status;
  expect(await statusOf("/general")).toBe(200);
  expect(await statusOf("/general?select=json_agg")).toBe(400);
  expect(await statusOf("/general", { "x-api-key-sha256": "0".repeat(64) })).toBe(401);
});
