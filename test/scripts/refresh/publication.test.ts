import { afterAll, beforeAll, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import { useRefresh } from "./support/refresh.ts";
import { submission } from "./support/source-files.ts";

const here = useRefresh();
let service: ScratchService;
let key: string;

beforeAll(async () => {
  service = await startScratchService(here.database.url);
  [key = ""] = (await here.list("select id from access.api_keys where tier = 'demo'")).map(String);
});
afterAll(() => service.stop());

async function publish(...numbers: number[]): Promise<void> {
  await here.write(
    "general",
    numbers.map((number) => submission(number)),
  );
  await here.load();
}

it("changes the ETag, so that a walk with If-Match stops and a cache asks again", async () => {
  const page = "/general?select=report_id&limit=1";
  await publish(1, 2);
  const before = await service.request(page, key);
  expect(before.status).toBe(200);
  const etag = String(before.headers.etag);
  await publish(2, 1);
  const walk = await service.request(`${page}&offset=1`, key, { headers: { "if-match": etag } });
  expect([walk.status, walk.json.code]).toEqual([412, "data_set_changed"]);
  const cached = await service.request(page, key, { headers: { "if-none-match": etag } });
  expect(cached.status).toBe(200);
  expect(cached.json).not.toEqual(before.json);
  expect(cached.headers.etag).toBe(walk.headers.etag);
});

it("is told by the description at / of each version, as is a rollback, also after a deployment", async () => {
  const describe = async () => {
    const [{ id, published }] = await here.select(
      `select id, to_char(published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published
       from dissemination.data_set`,
    );
    const { json } = await service.request("/", key);
    expect(json.info.title).toBe("Single Audit data, version 1.1.0");
    expect(json.info.description).toMatch(/^\s*Audits of federal awards under 2 CFR part 200/);
    expect(json.info.description.match(/Data set/g)).toHaveLength(1);
    expect(json.info.description.endsWith(`\n\nData set ${id}, published ${published}.`)).toBe(true);
    expect(await here.list("select obj_description('admin_api_v1_1_0'::regnamespace)")).toEqual([
      expect.stringContaining(`Data set ${id}, published ${published}.`),
    ]);
    return id;
  };
  await publish(1);
  const first = await describe();
  await publish(2);
  expect(await describe()).not.toBe(first);
  await here.asPublisher(() => rollBack(here.database.client));
  expect(await describe()).toBe(first);
  await here.select("delete from deployment.api_schemas");
  expect(await deployDatabase(here.database.url)).toMatchObject({ apiSchemasChanged: true });
  expect(await describe()).toBe(first);
});
