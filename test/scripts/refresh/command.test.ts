import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../service/connect.ts";
import { runScript } from "../../support/run-stack.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { startScratchService } from "../../support/scratch-service.ts";
import { refreshHere } from "./support/refresh.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const password = "the password of a role that lives for one test only";
const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;

beforeAll(async () => {
  ({ directory, remove: removeDirectory } = await makeDirectory());
  await writeCsv(directory, "general", [submission(1), submission(2, { is_public: "f" })]);
});
afterAll(async () => {
  await removeDirectory();
});

const start = (args: string[], more: Record<string, string> = {}) =>
  runScript("refresh.ts", args, {
    DATABASE_URL: database.url,
    PUBLIC_DATA: path.join(directory, "public"),
    ...more,
  });
const refresh = (...args: string[]) =>
  refreshHere(args, { DATABASE_URL: database.url, PUBLIC_DATA: path.join(directory, "public") });
const select = async (sql: string) => (await database.client.query(sql)).rows;
const liveId = async () => (await select("select id from dissemination.data_set"))[0].id;

describe("npm run refresh", () => {
  it("publishes, does nothing the second time, and publishes again when forced", async () => {
    const first = await refresh("--from", directory);
    expect(first.output).toMatch(
      /Published data set \S+ in [\d.]+ s\.\n {2}general: 1 public rows, 1 suppressed/,
    );
    expect(first.code).toBe(0);
    const before = await liveId();
    const second = await refresh("--from", directory);
    expect([second.code, second.output]).toEqual([0, expect.stringMatching(/nothing to do\. .*--force/)]);
    expect(await liveId()).toBe(before);
    expect((await refresh("--from", directory, "--force")).code).toBe(0);
    expect(await liveId()).not.toBe(before);
  });

  it("reads, checks and reports in a dry run, and changes nothing", async () => {
    const { directory: other, remove } = await makeDirectory();
    const state = async () => [
      await select("select id, state from publication.data_sets order by id"),
      await select("select nspname from pg_namespace order by nspname"),
      await readdir(path.join(directory, "public")),
    ];
    const before = await state();
    await writeCsv(other, "general", [submission(7), submission(8), submission(9, { is_public: "f" })]);
    const refused = await refresh("--from", other, "--dry-run");
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining("This does not look like")]);
    const accepted = await refresh("--from", other, "--dry-run", "--accept-shrink");
    expect(accepted.output).toMatch(
      /Nothing has changed: a dry run of [\d.]+ s\. It would publish\n {2}general: 2 public rows, 1 suppressed\n/,
    );
    expect(accepted.code).toBe(0);
    expect(await state()).toEqual(before);
    await writeCsv(other, "general", [submission(1, { is_public: "perhaps" })]);
    const faulty = await refresh("--from", other, "--dry-run", "--accept-shrink");
    expect([faulty.code, faulty.output]).toEqual([1, expect.stringContaining(`${other}/general.csv:2:`)]);
    expect(await state()).toEqual(before);
    await remove();
  });

  it("says what is wrong and exits 1", async () => {
    const { directory: other, remove } = await makeDirectory();
    await writeCsv(other, "general", [submission(1, { is_public: "perhaps" })]);
    const { code, output } = await refresh("--from", other);
    expect(code).toBe(1);
    expect(output).toContain(`${other}/general.csv:2: column is_public, value "perhaps"`);
    expect(output).not.toMatch(/^ +at /m);
    await remove();
  });

  it("rolls back in under a second, remembers it, and undoes it", async () => {
    await writeCsv(directory, "general", [submission(1), submission(2, { is_public: "f" }), submission(3)]);
    await refresh("--from", directory, "--accept-shrink");
    const [bad] = await select("select report_id from disclosed.general where report_id ~ '3$'");
    expect(bad.report_id).toBe(id(3));
    const withdrawn = await liveId();
    const { output, code } = await refresh("--rollback");
    expect(code).toBe(0);
    expect(Number(/is live again \(([\d.]+) s\)/.exec(output)?.[1])).toBeLessThan(1);
    expect(await liveId()).not.toBe(withdrawn);
    expect(await select("select report_id from api_v1_1_0.general where report_id ~ '3$'")).toEqual([]);
    const again = await refresh("--from", directory);
    expect([again.code, again.output]).toEqual([
      0,
      expect.stringMatching(/were rolled back at .* add --force/),
    ]);
    const status = await refresh("--status", "--json");
    const [, previous] = JSON.parse(status.output);
    expect(previous).toMatchObject({ id: withdrawn, state: "previous", rolled_back_at: expect.any(String) });
    expect((await refresh("--status")).output).toMatch(/│ live .*│ previous, rolled back /s);
    await refresh("--rollback");
    expect(await liveId()).toBe(withdrawn);
    expect((await refresh("--status")).output).not.toContain("rolled back");
  });

  it("keeps two generations and their bulk files, and no more", async () => {
    for (const number of [4, 5]) {
      await writeCsv(directory, "general", [
        submission(1),
        submission(2, { is_public: "f" }),
        submission(number),
      ]);
      await refresh("--from", directory);
    }
    const schemas =
      "select nspname from pg_namespace where nspname ~ '^(disclosed|suppressed|staging)' order by 1";
    expect((await select(schemas)).map(({ nspname }) => nspname)).toEqual([
      "disclosed",
      "disclosed_previous",
      "suppressed",
      "suppressed_previous",
    ]);
    const ids = await select("select id from publication.data_sets where state <> 'dropped' order by id");
    const kept = (await readdir(path.join(directory, "public"))).filter(
      (name) => !name.startsWith("changes-"),
    );
    expect(kept.sort()).toEqual([...ids.map((row) => row.id), "manifest.json"]);
  });

  it("says that another refresh is running, and exits 3", async () => {
    const other = await connect(database.url, "test");
    await other.query("select pg_advisory_lock(hashtext('publication'))");
    const { code, output } = await refresh("--from", directory, "--force").finally(() => other.end());
    expect([code, output]).toEqual([
      3,
      expect.stringMatching(/Another data set is being loaded now.*\. Try again when it is done/),
    ]);
  });

  it("refuses each request while requests are switched off, and says how to switch them on", async () => {
    const service = await startScratchService(database.url);
    try {
      const [key] = await select("select id from access.api_keys where tier = 'demo'");
      const ask = () => service.request("/general?select=report_id&limit=1", key.id);
      expect((await refresh("--requests", "off")).code).toBe(0);
      const refused = await ask();
      expect([refused.status, refused.json.code]).toEqual([503, "service_switched_off"]);
      expect((await refresh("--requests", "on")).code).toBe(0);
      const answered = await ask();
      expect(answered.status).toBe(200);
      expect(answered.headers["data-set"]).toMatch(
        new RegExp(`^"${await liveId()}"; published="\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ"$`),
      );
    } finally {
      await service.stop();
    }
  });

  it("works as the role publisher itself, with the password in a file", async () => {
    const { deployDatabase: deploy } = await import("../../../scripts/deploy/deploy-database.ts");
    const { rolpassword } = (
      await select("select rolpassword from pg_authid where rolname = 'publisher'")
    )[0];
    const { writeFile } = await import("node:fs/promises");
    const file = path.join(directory, "password");
    await writeFile(file, `${password}\n`);
    const url = new URL(database.url);
    url.username = "publisher";
    url.password = "";
    try {
      await deploy(database.url, { publisher: password });
      const { exited, output } = start(
        ["--from", directory, "--force", "--accept-shrink", "--accept-growth"],
        {
          DATABASE_URL: "",
          PUBLISHER_DATABASE_URL: url.href,
          PUBLISHER_DATABASE_PASSWORD_FILE: file,
        },
      );
      expect(await exited, output()).toBe(0);
      const by = "select published_by from publication.data_sets where state = 'live'";
      expect(await select(by)).toEqual([{ published_by: "publisher" }]);
    } finally {
      // The role belongs to the whole server.
      const verifier = rolpassword === null ? "null" : `'${rolpassword}'`;
      await database.client.query(`alter role publisher with password ${verifier}`);
    }
  });
});
