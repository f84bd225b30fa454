import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runContract } from "../../../scripts/deploy/contract-program.ts";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { runNewVersion } from "../../../scripts/deploy/new-version-program.ts";
import { runRetireVersion } from "../../../scripts/deploy/retire-version-program.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import { type Copy, copyRepository, findKeyId, queryOn, run } from "./support.ts";

// A version from its making to its end, on one PostgREST that is never restarted.

const database = useDeployedDatabase();
let service: ScratchService;
let copy: Copy;
let key: string;

beforeAll(async () => {
  service = await startScratchService(database.url);
  key = await findKeyId(database.url);
  await deployDatabase(database.url, {}, { promises: true });
  copy = await copyRepository();
});
afterAll(async () => {
  await service.stop();
  await copy.dispose();
});

const read = (target: string, profile?: string) =>
  service.request(target, key, profile === undefined ? {} : { headers: { "accept-profile": profile } });
const deploy = () =>
  run(runDeploy, ["--promise", "--directory", copy.directory], { DATABASE_URL: database.url });
const statusOf = async (profile: string) => (await read("/general?limit=1", profile)).status;

describe("a new version", () => {
  it("is a copy under another name, with its contract", async () => {
    const { code } = await run("db-new-version", [
      "v1_2_0",
      "--from",
      "v1_1_0",
      "--directory",
      copy.directory,
    ]);
    expect(code).toBe(0);
    expect((await readdir(path.join(copy.directory, "api"))).sort()).toEqual([
      "admin_api_v1_1_0",
      "admin_api_v1_2_0",
      "api_v1_1_0",
      "api_v1_2_0",
      "request",
    ]);
    expect(
      (await readdir(path.join(copy.directory, "contracts"))).filter((file) => file.includes("1_2")),
    ).toEqual(["admin_api_v1_2_0.json", "api_v1_2_0.json"]);
    const again = await run(runNewVersion, ["v1_2_0", "--from", "v1_1_0", "--directory", copy.directory]);
    expect([again.code, again.output.includes("is there already")]).toEqual([1, true]);
    const wrong = await run(runNewVersion, ["v2", "--from", "v9_9", "--directory", copy.directory]);
    expect([wrong.code, wrong.output.includes("There are: v1_1_0, v1_2_0.")]).toEqual([1, true]);
  });

  it("is not older than the oldest, which is the default", async () => {
    const { code, output } = await run(runNewVersion, [
      "v1_0_9",
      "--from",
      "v1_1_0",
      "--directory",
      copy.directory,
    ]);
    expect([code, output.includes("v1_0_9 is older than v1_1_0.")]).toEqual([1, true]);
  });

  it("may serve other columns, and leaves the old version as it is", async () => {
    await copy.edit("api/api_v1_2_0/general.sql", (text) =>
      text
        .replace("general.audit_year,", "general.audit_year as year,")
        .replace("general.audit_year is", "general.year is"),
    );
    const { code } = await run(
      runContract,
      ["--write", "--unpublished", "v1_2_0", "--directory", copy.directory],
      { SCRATCH_URL: database.url },
    );
    expect(code).toBe(0);
  });

  it("is served after db:deploy under its name, with no restart; the oldest stays the default", async () => {
    expect(await statusOf("api_v1_2_0")).toBe(406);
    expect((await deploy()).code).toBe(0);
    await expect.poll(() => statusOf("api_v1_2_0")).toBe(200);
    expect((await read("/general?select=year", "api_v1_2_0")).status).toBe(200);
    expect((await read("/general?select=year", "api_v1_1_0")).status).toBe(400);
    expect((await read("/general?select=audit_year")).status).toBe(200);
    expect((await read("/general?limit=1")).headers["content-profile"]).toBe("api_v1_1_0");
    expect((await read("/", "api_v1_2_0")).json.info.title).toContain("version 1.2.0");
  });
});

describe("a version that is to be retired", () => {
  const retire = (...args: string[]) =>
    run(runRetireVersion, ["v1_1_0", ...args, "--directory", copy.directory]);

  it("may not be removed unannounced", async () => {
    const kept = await copyRepository(copy.directory);
    await kept.remove("api/api_v1_1_0");
    await expect(deployDatabase(database.url, {}, { directory: kept.directory })).rejects.toThrow(
      /would take away, or change, what clients of v1_1_0 were promised: .*the whole version was removed/,
    );
    await kept.dispose();
  });

  it("says so in each answer from the announced day on: Deprecation, Sunset and Link", async () => {
    const link = "https://example.gov/api/v1_2_0";
    const { code } = await retire("--from", "2026-01-31", "--sunset", "2999-06-30", "--link", link);
    expect(code).toBe(0);
    expect((await read("/general?limit=1")).headers.deprecation).toBeUndefined();
    expect((await deploy()).code).toBe(0);
    for (const profile of [undefined, "api_v1_1_0"]) {
      const { status, headers } = await read("/general?limit=1", profile);
      expect(status).toBe(200);
      // RFC 9745: a date as a structured field. RFC 8594: an HTTP date.
      expect(headers.deprecation).toBe(`@${Date.parse("2026-01-31T00:00:00Z") / 1000}`);
      expect(headers.sunset).toBe("Sun, 30 Jun 2999 00:00:00 GMT");
      expect(headers.link).toBe(
        `<${link}>; rel="deprecation"; type="text/html", <${link}>; rel="sunset"; type="text/html"`,
      );
      expect(headers.etag).toMatch(/^"[0-9a-f]{32}"$/);
    }
    for (const header of ["deprecation", "sunset", "link"])
      expect((await read("/general?limit=1", "api_v1_2_0")).headers[header]).toBeUndefined();
  });

  it("says so as well where a file is asked for", async () => {
    const tribal = await makeTribalKey();
    const ask = (profile: string) =>
      service.request("/rpc/request_file_access", tribal, {
        method: "POST",
        headers: { "content-profile": profile, "content-type": "application/json" },
        body: '{"report_id": "2023-06-GSAFAC-0000000001"}',
      });
    await queryOn(database.url, insertReport);
    const old = await ask("admin_api_v1_1_0");
    expect([old.status, old.headers.sunset, old.headers["cache-control"]]).toEqual([
      200,
      "Sun, 30 Jun 2999 00:00:00 GMT",
      "no-store",
    ]);
    expect((await ask("admin_api_v1_2_0")).headers.sunset).toBeUndefined();
  });

  it("is removed only with --yes, and only after the sunset", async () => {
    const asked = await retire("--remove");
    expect([asked.code, asked.output.includes("Would remove")]).toEqual([2, true]);
    expect((await readdir(path.join(copy.directory, "api"))).includes("api_v1_1_0")).toBe(true);
    expect((await retire("--remove", "--yes")).code).toBe(0);
    const types = await run("db-types", ["--check", "--directory", copy.directory]);
    expect([types.code, types.output.includes("is up to date")]).toEqual([0, true]);
    expect((await readdir(path.join(copy.directory, "api"))).includes("api_v1_1_0")).toBe(false);
    const early = await deploy();
    expect([early.code, early.output.includes("api_v1_1_0: the whole version was removed")]).toEqual([
      1,
      true,
    ]);
    expect(await statusOf("api_v1_1_0")).toBe(200);
    await queryOn(database.url, "update deployment.retired_versions set sunset_at = now() - interval '1 s'");
    expect((await deploy()).code).toBe(0);
    await expect.poll(() => statusOf("api_v1_1_0")).toBe(406);
    const gone = await read("/general", "api_v1_1_0");
    await expect
      .poll(async () => (await read("/general?limit=1")).headers["content-profile"])
      .toBe("api_v1_2_0");
    expect(gone.json.code).toBe("PGRST106");
  });
});

const insertReport = `
  insert into suppressed.general (report_id, auditee_uei, is_public) values ('2023-06-GSAFAC-0000000001', 'x', false)`;

async function makeTribalKey(): Promise<string> {
  const [row] = await queryOn<{ id: string }>(
    database.url,
    `with agreement as (select access.request_agreement('Tribe', 'tester@example.gov') as id) select id from agreement`,
  );
  await queryOn(
    database.url,
    `select access.decide_agreement('${row?.id}', 'approved', 'Official', 'Agency', 'official@example.gov')`,
  );
  const [issued] = await queryOn<{ id: string }>(
    database.url,
    `select api_key_id as id from access.issue_key('tribal', 'tester@example.gov', 'test', null, '${row?.id}')`,
  );
  return issued?.id ?? "";
}
