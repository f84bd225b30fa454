import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import {
  createScratchDatabase,
  useDeployedDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../../support/scratch-service.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  findKeyId,
  forgetPromises,
  queryOn,
  readApiCatalog,
  run,
  viewColumns,
  viewFile,
} from "./support.ts";

const database = useDeployedDatabase();
const other = useOtherServer();
let service: ScratchService;
let key: string;
let copy: Copy;
const copies: Copy[] = [];
const makeCopy = async () => {
  copy = await copyRepository();
  copies.push(copy);
  return copy;
};
const deploy = (...args: string[]) =>
  run(runDeploy, args, { DATABASE_URL: database.url, SCRATCH_URL: other.url });
const read = (path: string, headers = {}) => service.request(path, key, { headers });
const hasColumn = async (name: string) =>
  (await read(`/additional_eins?select=${name}&limit=1`)).status === 200;

beforeAll(async () => {
  service = await startScratchService(database.url);
  key = await findKeyId(database.url);
});
afterAll(async () => {
  await service.stop();
});
afterEach(async () => {
  await forgetPromises(database.url);
  await deployDatabase(database.url, {}, { acceptsDrift: () => true });
  for (const one of copies.splice(0)) await one.dispose();
});

describe("db:deploy", () => {
  it("changes nothing when run again, and says so", async () => {
    const before = await readApiCatalog(database.url);
    const { code, output } = await run("db-deploy", [], { DATABASE_URL: database.url });
    expect([code, output]).toEqual([0, "The API schemas are up to date.\nNothing to do.\n"]);
    expect(await readApiCatalog(database.url)).toBe(before);
  });

  it("deploys on an empty database that does not answer yet", async () => {
    const empty = await createScratchDatabase();
    try {
      const url = new URL(empty.url);
      const env = {
        PGHOST: url.hostname,
        PGPORT: url.port,
        PGUSER: url.username,
        PGDATABASE: url.pathname.slice(1),
        SCRATCH_URL: other.url,
      };
      const plan = await run(runDeploy, ["--plan"], { ...env, PGPASSWORD: url.password });
      expect(plan.code).toBe(3);
      expect(plan.output).toContain("Migration 20261121200100000_create_roles would run:");
      const { code, output } = await run(runDeploy, ["--json"], { ...env, PGPASSWORD: url.password });
      expect(code).toBe(0);
      expect(JSON.parse(output)).toMatchObject({ apiSchemasChanged: true });
      expect(JSON.parse(output).migrations.length).toBeGreaterThan(4);
    } finally {
      await empty.drop();
    }
    const start = Date.now();
    const away = await run(runDeploy, ["--wait", "2s"], {
      DATABASE_URL: "postgres://postgres@127.0.0.1:1/x",
    });
    expect([away.code, Date.now() - start > 2000]).toEqual([1, true]);
    expect(away.output).toContain("ECONNREFUSED");
  });

  it("leaves the old API served when a file has an error, and says where", async () => {
    await makeCopy();
    await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
    await copy.edit("api/api_v1_1_0/resubmission.sql", (text) =>
      text.replace("resubmission.audit_year,", "resubmission.audit_yeer,"),
    );
    const before = await readApiCatalog(database.url);
    const { code, output } = await deploy("--directory", copy.directory);
    expect(code).toBe(1);
    expect(output).toContain(
      "db/api/api_v1_1_0/resubmission.sql:8:3: column resubmission.audit_yeer does not exist",
    );
    expect(output).toContain("    8 |   resubmission.audit_yeer,");
    expect(output).toContain('hint: Perhaps you meant to reference the column "resubmission.audit_year".');
    expect(await readApiCatalog(database.url)).toBe(before);
    expect(await hasColumn("additional_ein")).toBe(true);
    expect(await hasColumn("other_id")).toBe(false);
  });

  it("says where a migration fails, and leaves nothing of it", async () => {
    await makeCopy();
    await copy.write(
      "migrations/20991231000000000_fail.sql",
      "-- Lock level: none.\ncreate table deployment.half ();\nselect 1 from deployment.no_such_table;\n",
    );
    const { code, output } = await deploy("--directory", copy.directory);
    expect(code).toBe(1);
    expect(output).toContain(
      'db/migrations/20991231000000000_fail.sql:3:15: relation "deployment.no_such_table" does not exist',
    );
    expect(await queryOn(database.url, "select to_regclass('deployment.half') as half")).toEqual([
      { half: null },
    ]);
  });

  it("waits for another deployment, and then finds nothing to do", async () => {
    await makeCopy();
    await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
    const all = await Promise.all([1, 2, 3].map(() => deploy("--directory", copy.directory, "--json")));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    const changed = all.map(({ output }) => JSON.parse(output.slice(output.indexOf("{"))).apiSchemasChanged);
    expect(changed.sort()).toEqual([false, false, true]);
    expect(await hasColumn("other_id")).toBe(true);
  });
});

describe("a rollback of production", () => {
  const checkout = (...args: string[]) => deploy("--promise", ...args);

  it("takes an added column back with --roll-back, and says what clients lose", async () => {
    expect((await checkout()).code).toBe(0);
    await makeCopy();
    await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
    await copy.write(
      "migrations/20991231000000000_add.sql",
      "-- Lock level: none.\ncreate table deployment.more ();\n",
    );
    expect((await checkout("--directory", copy.directory)).code).toBe(0);
    await expect.poll(() => hasColumn("other_id")).toBe(true);

    // The files that were deployed before: an older checkout.
    const older = await checkout();
    expect([older.code, older.output]).toEqual([
      1,
      expect.stringContaining("This checkout is older than the database"),
    ]);
    await queryOn(
      database.url,
      "delete from deployment.migrations where name like '2099%'; drop table deployment.more",
    );
    for (const more of [[], ["--plan"]]) {
      const { code, output } = await checkout("--accept-drift", ...more);
      expect([code, output]).toEqual([
        1,
        expect.stringContaining(
          "This checkout would take away or change what clients were promised: api_v1_1_0: additional_eins.other_id was removed (",
        ),
      ]);
    }
    const back = await checkout("--roll-back", "--accept-drift");
    expect([back.code, back.output]).toEqual([
      0,
      expect.stringContaining(
        "Clients lose what they were promised:\n  api_v1_1_0: additional_eins.other_id was removed",
      ),
    ]);
    await expect.poll(() => hasColumn("other_id")).toBe(false);
    expect((await checkout()).output).toContain("Nothing to do.");
  });

  it("may lack migrations that the database has had", async () => {
    await makeCopy();
    await copy.write(
      "migrations/20991231000000000_add.sql",
      "-- Lock level: none.\ncreate table deployment.more ();\n",
    );
    expect((await deploy("--directory", copy.directory)).code).toBe(0);
    expect((await deploy()).code).toBe(1);
    expect((await deploy("--roll-back")).code).toBe(0);
    await queryOn(
      database.url,
      "delete from deployment.migrations where name like '2099%'; drop table deployment.more",
    );
    expect((await deploy("--accept-drift")).code).toBe(0);
  });
});

describe("db:deploy --plan-hash", () => {
  it("deploys the plan that was approved, and refuses when it would be another", async () => {
    await makeCopy();
    await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
    const { output } = await deploy("--plan", "--directory", copy.directory);
    const [, hash = ""] = /^Plan (\w+)$/m.exec(output) ?? [];
    await queryOn(database.url, "create table access.notes ()");
    const refused = await deploy("--directory", copy.directory, "--plan-hash", hash, "--accept-drift");
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining(`plan ${hash} was approved, and now`),
    ]);
    await queryOn(database.url, "drop table access.notes");
    const deployed = await deploy("--directory", copy.directory, "--plan-hash", hash);
    expect([deployed.code, deployed.output]).toEqual([0, expect.stringContaining("Rebuilt the API schemas")]);
    expect((await deploy("--directory", copy.directory, "--plan-hash", hash)).code).toBe(1);
  });
});

describe("db:deploy --plan", () => {
  it("exits 0 when there is nothing to do", async () => {
    const { code, output } = await deploy("--plan");
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/^Nothing to do: the database is in the state of db\/\.\nPlan \w{16}\n$/),
    ]);
  });

  it("exits 3, prints what would change and changes nothing", async () => {
    await makeCopy();
    await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
    await copy.write(
      "migrations/20991231000000000_add.sql",
      "-- Lock level: none.\ncreate table deployment.more ();\n",
    );
    const before = await readApiCatalog(database.url);
    const { code, output } = await deploy("--plan", "--directory", copy.directory);
    expect(code).toBe(3);
    expect(output).toContain("Migration 20991231000000000_add would run:");
    expect(output).toContain("    create table deployment.more ();");
    expect(output).toContain("~ view api_v1_1_0.additional_eins");
    const json = await deploy("--plan", "--json", "--directory", copy.directory);
    expect(JSON.parse(json.output)).toMatchObject({
      migrations: [{ name: "20991231000000000_add" }],
      changes: expect.arrayContaining([
        expect.objectContaining({ object: "view api_v1_1_0.additional_eins" }),
      ]),
    });
    expect(await readApiCatalog(database.url)).toBe(before);
    expect(await queryOn(database.url, "select to_regclass('deployment.more') as more")).toEqual([
      { more: null },
    ]);
  });

  it("cannot be made to change the roles of the server that it plans for", async () => {
    const { code, output } = await run(runDeploy, ["--plan"], {
      DATABASE_URL: database.url,
      SCRATCH_URL: database.url,
    });
    expect([code, output.includes("SCRATCH_URL names the server that the plan is for")]).toEqual([1, true]);
  });

  it("says which columns the published data set lacks", async () => {
    await makeCopy();
    await copy.edit("data_set/staging.sql", (text) =>
      text.replace(
        "  is_secondary_auditors text\n",
        "  is_secondary_auditors text,\n  auditee_county text\n",
      ),
    );
    await copy.edit("data_set/build.sql", (text) =>
      text.replace(
        "as is_secondary_auditors\nfrom staging.general",
        "as is_secondary_auditors,\n  source.auditee_county\nfrom staging.general",
      ),
    );
    await copy.edit("api/api_v1_1_0/general.sql", (text) =>
      text
        .replace(
          "  general.is_secondary_auditors\n",
          "  general.is_secondary_auditors,\n  general.auditee_county\n",
        )
        .concat("comment on column api_v1_1_0.general.auditee_county is 'County.';\n"),
    );
    const { code, output } = await deploy("--plan", "--directory", copy.directory);
    expect(code).toBe(1);
    expect(output).toContain("view api_v1_1_0.general reads dissemination.general.auditee_county: text");
  });

  it("exits 1 when the deployment would be refused", async () => {
    await deploy("--promise");
    await makeCopy();
    await copy.write(viewFile, describeView(viewColumns.filter((name) => name !== "audit_year")));
    const { code, output } = await deploy("--plan", "--directory", copy.directory);
    expect(code).toBe(1);
    expect(output).toContain("additional_eins.audit_year was removed");
  });
});
