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
  forgetDeployments,
  readApiCatalogue,
  run,
  viewColumns,
  viewFile,
} from "./support.ts";

const database = useDeployedDatabase();
let copy: Copy;
let deployed: string;

beforeAll(async () => {
  deployed = await readApiCatalogue(database.url);
});
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

const deploy = () => deployDatabase(database.url, {}, { directory: copy.directory });
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
            returns text language sql stable set search_path = '' as 'select note';\n`,
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
      /api_v1_1_0: it was never announced that it goes/,
    ],
  ];
  it.each(cases)("%s", async (_name, change, message) => {
    await change();
    const failure: Error = await deploy().then(
      () => new Error("It was deployed."),
      (error) => error,
    );
    expect(failure.message).toMatch(message);
    if (!failure.message.includes("never announced"))
      expect(failure.message).toContain("npm run db:new-version -- v1_2_0 --from v1_1_0");
    expect(await readApiCatalogue(database.url)).toBe(deployed);
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
    expect((await deploy()).apiSchemasChanged).toBe(true);
    const contract = (...args: string[]) =>
      run(runContract, [...args, "--directory", copy.directory], { SCRATCH_URL: findServerUrl() });
    const told = await contract();
    expect([told.code, told.output.includes(message)]).toEqual([3, true]);
    expect((await contract("--write")).code).toBe(0);
    const after = await contract();
    expect([after.code, after.output]).toEqual([0, "Contracts and files agree.\n"]);
    // What is deployed is promised, whatever the files say.
    await expect(deployDatabase(database.url, {}, { rollsBackApi: true })).rejects.toThrow("was removed");
    await forgetDeployments(database.url);
    await deployDatabase(database.url);
    expect(await readApiCatalogue(database.url)).toBe(deployed);
  });

  it("an addition that is taken back together with its contract is refused", async () => {
    await setView([...viewColumns, addedColumn]);
    await deploy();
    await setView(viewColumns);
    await copy.edit(viewFile, (text) => text.replace("'Additional EINs", "'Further EINs"));
    await expect(deploy()).rejects.toThrow("additional_eins.other_id was removed");
    await forgetDeployments(database.url);
    await deployDatabase(database.url);
  });

  it("a comment, with nothing to write down", async () => {
    await copy.edit(viewFile, (text) => text.replace("'Additional EINs", "'Further EINs"));
    expect((await deploy()).apiSchemasChanged).toBe(true);
    await deployDatabase(database.url, {}, { rollsBackApi: true });
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

describe("a rule of the house is kept:", () => {
  const cases: [string, () => Promise<void>, RegExp][] = [
    [
      "security_invoker",
      () => copy.edit(viewFile, (text) => text.replace("with (security_invoker = true) ", "")),
      /views are security_invoker/,
    ],
    [
      "a comment on each column",
      () =>
        copy.edit(viewFile, (text) =>
          text.replace(/comment on column api_v1_1_0\.additional_eins\.audit_year is[^;]*;/, ""),
        ),
      /additional_eins\.audit_year: columns have a comment/,
    ],
    ["no order by", () => setView(viewColumns, { tail: " order by report_id" }), /It sorts/],
    ["no filter", () => setView(viewColumns, { tail: " where audit_year > '2020'" }), /It filters/],
    [
      "no join",
      () =>
        setView(
          viewColumns.map((name) => `a.${name} as ${name}`),
          { tail: " as a join dissemination.general as g on g.report_id = a.report_id" },
        ),
      /It joins/,
    ],
    [
      "no function call per row",
      () => setView([...viewColumns, "upper(report_id) as upper_id"]),
      /It computes a column/,
    ],
    [
      "no way past dissemination",
      () => copy.edit(viewFile, (text) => text.replace("from dissemination.", "from disclosed.")),
      /It does not read dissemination/,
    ],
    [
      "no grant to public",
      () => copy.edit(viewFile, (text) => `${text}grant select on api_v1_1_0.additional_eins to public;\n`),
      /granted to public/,
    ],
    [
      "a pinned search_path",
      () =>
        copy.edit(`${admin}/request_file_access.sql`, (text) => text.replaceAll(" set search_path = ''", "")),
      /functions pin search_path/,
    ],
    [
      "no execute for public",
      () =>
        copy.edit(
          "api/request/refuse.sql",
          (text) => `${text}grant execute on function request.refuse to public;\n`,
        ),
      /nothing is executable by public/,
    ],
    [
      "no write",
      () =>
        copy.edit(viewFile, (text) => `${text}grant insert on api_v1_1_0.additional_eins to api_tribal;\n`),
      /the API is read-only/,
    ],
  ];
  it.each(cases)("%s", async (_name, change, message) => {
    await change();
    await expect(deploy()).rejects.toThrow(message);
    expect(await readApiCatalogue(database.url)).toBe(deployed);
  });
});
