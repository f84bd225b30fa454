import { expect, it } from "vitest";
import { dotenv } from "zx";
import { findKeyId } from "../scripts/deploy/support.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";
import { startScratchService } from "../support/scratch-service.ts";

const database = useDeployedDatabase();

it("PostgREST's environment repeats what request.pre_config() says", async () => {
  const { PGRST_DB_PRE_CONFIG, ...repeated } = dotenv.load("scripts/stack/postgrest.env");
  await database.client.query(`select ${PGRST_DB_PRE_CONFIG}()`);
  for (const [name, value] of Object.entries(repeated)) {
    const setting = name.toLowerCase().replace("pgrst_", "pgrst.");
    const { rows } = await database.client.query("select current_setting($1) as value", [setting]);
    expect({ name, value }).toEqual({ name, value: rows[0].value });
  }
});

it("PostgREST refuses and answers the same requests while it cannot read request.pre_config()", async () => {
  await database.client.query("alter function request.pre_config rename to cannot_be_read");
  const key = await findKeyId(database.url);
  const service = await startScratchService(database.url);
  try {
    const statuses = [];
    for (const [path, id] of [
      ["/general", key],
      ["/general?select=json_agg", key],
      ["/general", "00000000-0000-0000-0000-000000000000"],
    ] as const) {
      statuses.push((await service.request(path, id)).status);
    }
    expect(statuses).toEqual([200, 400, 401]);
  } finally {
    await service.stop();
  }
});
