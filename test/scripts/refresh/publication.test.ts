import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { columnNames } from "../../support/columns.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";

const database = useDeployedDatabase();
let service: ScratchService;
let directory: string;
let key: string;

beforeAll(async () => {
  service = await startScratchService(database.url);
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-csv-"));
  key = (await database.client.query("select id from access.api_keys where tier = 'demo'")).rows[0].id;
});
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Publishes a data set of public submissions with these numbers. */
async function publish(numbers: number[], report: (line: string) => void = () => {}): Promise<void> {
  const columns = columnNames("general");
  const values: Record<string, string> = { auditee_uei: "UEI", audit_year: "2023", is_public: "t" };
  const rows = numbers.map((number) =>
    columns.map((column) =>
      column === "report_id" ? `2023-06-GSAFAC-${String(number).padStart(10, "0")}` : (values[column] ?? ""),
    ),
  );
  await writeFile(
    path.join(directory, "general.csv"),
    `${[columns, ...rows].map((row) => row.join(",")).join("\n")}\n`,
  );
  await database.client.query("set role publisher");
  await loadDataSet(database.client, { source: directory, files: await findFiles(directory) }, { report });
  await database.client.query("reset role");
}

it("changes the ETag, so that a walk with If-Match stops and a cache asks again", async () => {
  const page = "/general?select=report_id&limit=1";
  await publish([1, 2]);
  const before = await service.request(page, key);
  expect(before.status).toBe(200);
  const etag = String(before.headers.etag);
  await publish([2, 1]);
  const walk = await service.request(`${page}&offset=1`, key, { headers: { "if-match": etag } });
  expect([walk.status, walk.json.code]).toEqual([412, "data_set_changed"]);
  const cached = await service.request(page, key, { headers: { "if-none-match": etag } });
  expect(cached.status).toBe(200);
  expect(cached.json).not.toEqual(before.json);
  expect(cached.headers.etag).toBe(walk.headers.etag);
});

it("is told by the description at / of each version, as is a rollback, also after a deployment", async () => {
  const describe = async () => {
    const [{ id, published }] = (
      await database.client.query(
        `select id, to_char(published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published
         from dissemination.data_set`,
      )
    ).rows;
    const { json } = await service.request("/", key);
    expect(json.info.title).toBe("Single Audit data, version 1.1.0");
    expect(json.info.description).toMatch(/^\s*Audits of federal awards under 2 CFR part 200/);
    expect(json.info.description.match(/Data set/g)).toHaveLength(1);
    expect(json.info.description.endsWith(`\n\nData set ${id}, published ${published}.`)).toBe(true);
    const { rows } = await database.client.query(
      "select obj_description('admin_api_v1_1_0'::regnamespace) as comment",
    );
    expect(rows[0].comment).toContain(`Data set ${id}, published ${published}.`);
    return id;
  };
  await publish([1]);
  const first = await describe();
  await publish([2]);
  expect(await describe()).not.toBe(first);
  await database.client.query("set role publisher");
  await rollBack(database.client);
  await database.client.query("reset role");
  expect(await describe()).toBe(first);
  await database.client.query("delete from deployment.api_schemas");
  expect(await deployDatabase(database.url)).toMatchObject({ apiSchemasChanged: true });
  expect(await describe()).toBe(first);
});
