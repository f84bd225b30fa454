import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { compareContracts } from "../../../scripts/deploy/compare-contracts.ts";
import { readContracts, readServedContracts } from "../../../scripts/deploy/contract.ts";
import { runContract } from "../../../scripts/deploy/contract-program.ts";
import { deployDatabase, repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { connect } from "../../../service/connect.ts";
import { findServerUrl, useDeployedDatabase } from "../../support/scratch-database.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  readApiCatalog,
  run,
  viewColumns,
  viewFile,
} from "./support.ts";

const database = useDeployedDatabase();
let copy: Copy;
let deployed: string;

beforeAll(async () => {
  await deployDatabase(database.url, {}, { promises: true });
  deployed = await readApiCatalog(database.url);
});
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

const deploy = (options = {}) => deployDatabase(database.url, {}, { directory: copy.directory, ...options });
const setView = (columns: string[], more = {}) => copy.write(viewFile, describeView(columns, more));
const admin = "api/admin_api_v1_1_0";
const withoutBlocks = (word: string) => (text: string) =>
  text
    .split("\n\n")
    .filter((block) => !block.includes(word))
    .join("\n\n");

describe("the contracts of this repository", () => {
  it("are what its files serve", async () => {
    const client = await connect(database.url, "test");
    const served = await readServedContracts(client).finally(() => client.end());
    expect(
      compareContracts(await readContracts(path.join(repositoryDirectory, "contracts")), served),
    ).toEqual([]);
  });
});

describe("a change that breaks a published version is refused:", () => {
  const cases: [string, () => Promise<void>, RegExp][] = [
    [
      "a column removed",
      () => setView(viewColumns.filter((name) => name !== "audit_year")),
      /additional_eins\.audit_year was removed\. Requests that select, filter or order by it get 400/,
    ],
    [
      "a column renamed",
      () => setView(viewColumns.map((name) => (name === "audit_year" ? "audit_year as year" : name))),
      /additional_eins\.audit_year was removed \(renamed to year\?\)/,
    ],
    [
      "a column of another type",
      () =>
        setView(
          viewColumns.map((name) => (name === "audit_year" ? "audit_year::varchar(4) as audit_year" : name)),
        ),
      /additional_eins\.audit_year is VARCHAR\(4\) in place of TEXT/,
    ],
    [
      "columns in another order",
      () => setView(["auditee_uei", "report_id", ...viewColumns.slice(2)]),
      /additional_eins\.auditee_uei stands in another place\. CSV has its columns in this order/,
    ],
    [
      "a column added before the end",
      () => setView([addedColumn, ...viewColumns]),
      /additional_eins\.other_id was added before the last published column/,
    ],
    [
      "a view removed",
      () => copy.remove(viewFile),
      /additional_eins was removed\. GET \/additional_eins gets 404/,
    ],
    [
      "a relationship removed",
      () => copy.edit(viewFile, withoutBlocks("general(api_v1_1_0.additional_eins)")),
      /the function general\(api_v1_1_0\.additional_eins\) was removed/,
    ],
    [
      "a function's argument renamed",
      () =>
        copy.edit(`${admin}/request_file_access.sql`, (text) =>
          text.replace("(report_id text)", "(id text)"),
        ),
      /the function request_file_access\(report_id text\) was removed\. Calls with the published arguments get 404; there is request_file_access\(id text\)/,
    ],
    [
      "a function beside another that the same call may mean",
      () =>
        copy.edit(
          `${admin}/request_file_access.sql`,
          (text) =>
            `${text}create function admin_api_v1_1_0.request_file_access(report_id text, note text default null)
            returns text language sql stable set search_path = '' as 'select note';
            comment on function admin_api_v1_1_0.request_file_access(text, text) is 'Note.';\n`,
        ),
      /request_file_access\(report_id text, note text DEFAULT .*\) was added beside request_file_access\(report_id text\)\. Calls that fit both get 300/,
    ],
    [
      "a function's answer without a field",
      () =>
        copy.edit(`${admin}/request_file_access.sql`, (text) =>
          text.replace(
            "(access_uuid uuid, expires_at timestamptz)",
            "(access_uuid uuid, expires timestamptz)",
          ),
        ),
      /file_access\.expires_at was removed \(renamed to expires\?\)/,
    ],
    [
      "a grant narrowed",
      () => setView(viewColumns, { grant: "api_tribal" }),
      /additional_eins is no longer granted to api_public/,
    ],
    [
      "a grant widened",
      () =>
        copy.edit(`${admin}/schema.sql`, (text) =>
          text.replace(/to api_tribal;/, "to api_tribal, api_public;"),
        ),
      /admin_api_v1_1_0: the schema is now granted to api_public\. Keys see what this version never showed them/,
    ],
    [
      "a version removed",
      () => copy.remove("api/api_v1_1_0"),
      /api_v1_1_0: the whole version was removed\. Requests that name it get 406\.[\s\S]*npm run db:retire-version -- v1_1_0/,
    ],
  ];
  it.each(cases)("%s", async (_name, change, message) => {
    await change();
    const failure: Error = await deploy().then(
      () => new Error("It was deployed."),
      (error) => error,
    );
    expect(failure.message).toMatch(message);
    expect(failure.message).toMatch(
      /^This checkout would take away, or change, what clients of v1_1_0 were promised: /,
    );
    expect(failure.message).toContain("npm run db:new-version -- v1_2_0 --from v1_1_0");
    expect(await readApiCatalog(database.url)).toBe(deployed);
  });
});

describe("a change that adds to a published version is deployed:", () => {
  const cases: [string, () => Promise<void>, string][] = [
    ["a column at the end", () => setView([...viewColumns, addedColumn]), "other_id was added at the end"],
    [
      "a view",
      () =>
        copy.write(
          "api/api_v1_1_0/more.sql",
          describeView(viewColumns, { isAlone: true }).replaceAll(
            "api_v1_1_0.additional_eins",
            "api_v1_1_0.more",
          ),
        ),
      "more was added",
    ],
    [
      "a relationship",
      () =>
        copy.edit(
          viewFile,
          (text) => `${text}
create function api_v1_1_0.siblings(api_v1_1_0.additional_eins) returns setof api_v1_1_0.additional_eins
language sql stable
as $$
  select a.* from api_v1_1_0.additional_eins as a where a.report_id = $1.report_id and request.take_weight(160)
$$;
comment on function api_v1_1_0.siblings(api_v1_1_0.additional_eins) is 'Others of the report.';
grant execute on function api_v1_1_0.siblings(api_v1_1_0.additional_eins) to api_public, api_tribal;
`,
        ),
      "the function siblings(api_v1_1_0.additional_eins) was added",
    ],
  ];
  it.each(cases)("%s, and written down by db:contract", async (_name, change, message) => {
    await change();
    expect((await deploy({ promises: true })).changes.map(({ what }) => what)).toContainEqual(
      expect.stringContaining(message),
    );
    const contract = (...args: string[]) =>
      run(runContract, [...args, "--directory", copy.directory], { SCRATCH_URL: findServerUrl() });
    const told = await contract();
    expect([told.code, told.output.includes(message)]).toEqual([3, true]);
    expect((await contract("--write")).code).toBe(0);
    const after = await contract();
    expect([after.code, after.output]).toEqual([0, "Contracts and files agree.\n"]);
    // What production deployed is promised, whatever the files say. A rollback says what clients lose.
    await expect(deployDatabase(database.url)).rejects.toThrow("was removed");
    const { changes } = await deployDatabase(database.url, {}, { rollsBack: true, promises: true });
    expect(changes).toEqual([expect.objectContaining({ breaks: expect.any(String) })]);
    expect(await readApiCatalog(database.url)).toBe(deployed);
  });

  it("as a draft, and taken back without a word", async () => {
    await setView([...viewColumns, addedColumn]);
    await deploy();
    await setView(viewColumns, { grant: "api_public, api_tribal" });
    await deploy();
    expect((await deployDatabase(database.url)).changes).toEqual([]);
    expect(await readApiCatalog(database.url)).toBe(deployed);
  });

  it("a comment, with nothing to write down", async () => {
    await copy.edit(viewFile, (text) => text.replace("'Additional EINs", "'Further EINs"));
    expect((await deploy()).apiSchemasChanged).toBe(true);
    await deployDatabase(database.url);
  });
});

describe("db:contract --write", () => {
  it("refuses to write down what breaks a published version", async () => {
    await setView(viewColumns.slice(0, 4));
    const { code, output } = await run(runContract, ["--write", "--directory", copy.directory], {
      SCRATCH_URL: findServerUrl(),
    });
    expect([code, output.includes("additional_eins.additional_ein was removed")]).toEqual([1, true]);
  });
});

describe("a rule of this database is kept:", () => {
  const cases: [string, () => Promise<void>, RegExp][] = [
    [
      "a comment on each column",
      () =>
        copy.edit(viewFile, (text) =>
          text.replace(/comment on column api_v1_1_0\.additional_eins\.audit_year is[^;]*;/, ""),
        ),
      /additional_eins\.audit_year: The column needs a comment/,
    ],
    ["no order by", () => setView(viewColumns, { tail: " order by report_id" }), /This one sorts/],
    ["no filter", () => setView(viewColumns, { tail: " where audit_year > '2020'" }), /This one filters/],
    [
      "no join",
      () =>
        setView(
          viewColumns.map((name) => `a.${name} as ${name}`),
          { tail: " as a join dissemination.general as g on g.report_id = a.report_id" },
        ),
      /This one joins/,
    ],
    [
      "no function call per row",
      () => setView([...viewColumns, "upper(report_id) as upper_id"]),
      /This one computes a column/,
    ],
    [
      "no way past dissemination",
      () => copy.edit(viewFile, (text) => text.replace("from dissemination.", "from disclosed.")),
      /permission denied for schema disclosed/,
    ],
    [
      "no grant to public",
      () => copy.edit(viewFile, (text) => `${text}grant select on api_v1_1_0.additional_eins to public;\n`),
      /additional_eins is now granted to public/,
    ],
    [
      "no write",
      () =>
        copy.edit(viewFile, (text) => `${text}grant insert on api_v1_1_0.additional_eins to api_tribal;\n`),
      /INSERT is granted to api_tribal/,
    ],
  ];
  it.each(cases)("%s", async (_name, change, message) => {
    await change();
    await expect(deploy()).rejects.toThrow(message);
    expect(await readApiCatalog(database.url)).toBe(deployed);
  });
});
