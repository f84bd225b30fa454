import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Contract, compareContracts, readContracts } from "../../../scripts/deploy/contract.ts";
import { deployDatabase, repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  queryOn,
  viewColumns,
  viewFile,
} from "./support.ts";

const contracts = await readContracts(repositoryDirectory);
const relationship = "general(api_v1_1_0.additional_eins)";

describe("a change of a version", () => {
  type Edit = (contract: Contract) => void;
  const other = { name: "other_id", type: "TEXT" };
  const addFunction =
    (signature: string): Edit =>
    ({ functions }) =>
      Object.assign(functions, { [signature]: { execute: [], returns: "" } });
  const columnsOf = ({ views }: Contract) => views.additional_eins?.columns ?? [];
  const column = (c: Contract, at: number) => columnsOf(c)[at] ?? {};
  const cases: [what: string, isBreaking: boolean, edit: Edit][] = [
    ["additional_eins.audit_year was removed", true, (c) => columnsOf(c).splice(2, 1)],
    ["additional_eins.audit_year was removed", true, (c) => Object.assign(column(c, 2), { name: "year" })],
    [
      "additional_eins.audit_year is “VARCHAR(4)” instead of “TEXT”",
      true,
      (c) => Object.assign(column(c, 2), { type: "VARCHAR(4)" }),
    ],
    ["the order of columns in additional_eins has changed", true, (c) => columnsOf(c).reverse()],
    ["the order of columns in additional_eins has changed", true, (c) => columnsOf(c).unshift(other)],
    ["additional_eins.other_id was added", false, (c) => columnsOf(c).push(other)],
    ["additional_eins was removed", true, (c) => delete c.views.additional_eins],
    ["more was added", false, (c) => Object.assign(c.views, { more: { select: [], columns: [] } })],
    [`the function ${relationship} was removed`, true, (c) => delete c.functions[relationship]],
    ["the function general(api_v1_1_0.more) was added", false, addFunction("general(api_v1_1_0.more)")],
    [
      `the function ${relationship} is “text stable” instead of`,
      true,
      (c) => Object.assign(c.functions[relationship] ?? {}, { returns: "text stable" }),
    ],
    ["the function general(state text) was added", true, addFunction("general(state text)")],
    [
      "the grant of additional_eins to api_public was removed",
      true,
      (c) => c.views.additional_eins?.select.shift(),
    ],
    ["the grant of the schema to public was added", true, (c) => c.usage.push("public")],
  ];
  it.each(cases)("%s; it breaks clients: %s", (what, isBreaking, edit) => {
    const served = structuredClone(contracts);
    edit(served.find(({ schema }) => schema === "api_v1_1_0") as Contract);
    const found = compareContracts(contracts, served).find((change) => change.what.startsWith(what));
    expect([found?.schema, found?.breaks !== undefined]).toEqual(["api_v1_1_0", isBreaking]);
  });

  it("nothing, a field of a function's answer, a whole version", () => {
    expect(compareContracts(contracts, structuredClone(contracts))).toEqual([]);
    const served = structuredClone(contracts);
    for (const { types } of served) types.file_access?.pop();
    expect(compareContracts(contracts, served)).toMatchObject([
      { what: "the type file_access.expires_at was removed", breaks: expect.any(String) },
    ]);
    expect(compareContracts(contracts, contracts.slice(1))).toMatchObject([
      { what: "the whole version was removed", breaks: expect.any(String) },
    ]);
    expect(compareContracts([], contracts).every(({ breaks }) => breaks === undefined)).toBe(true);
  });
});

describe("what production promised", () => {
  const database = useDeployedDatabase();
  let copy: Copy;
  beforeEach(async () => {
    copy = await copyRepository();
  });
  afterEach(() => copy.dispose());
  const deploy = (options = {}) =>
    deployDatabase(database.url, {}, { directory: copy.directory, ...options });
  const setView = (columns: string[], more = {}) => copy.write(viewFile, describeView(columns, more));

  it("may change freely in drafts, and not after a promise, except by a rollback", async () => {
    await setView([...viewColumns, addedColumn]);
    await deploy();
    await setView(viewColumns, { grant: "api_tribal", isAlone: true });
    expect((await deploy()).changes).toEqual([]);
    await setView([...viewColumns, addedColumn]);
    await deploy({ promises: true });
    await expect(deployDatabase(database.url)).rejects.toThrow(
      /^This deployment would remove or change what clients were promised: api_v1_1_0: additional_eins\.other_id was removed/,
    );
    const { changes } = await deployDatabase(database.url, {}, { rollsBack: true, promises: true });
    expect(changes).toMatchObject([
      { what: "additional_eins.other_id was removed", breaks: expect.any(String) },
    ]);
  });

  it("keeps a version until its announced sunset, and the oldest as the default", async () => {
    await deployDatabase(database.url, {}, { promises: true });
    await copy.copyVersion("v1_1_0", "v1_0_0");
    await expect(deploy()).rejects.toThrow("api_v1_0_0: it is now the version with the lowest number");
    await copy.remove("api/api_v1_0_0");
    await copy.copyVersion("v1_1_0", "v1_2_0");
    await deploy();
    await copy.remove("api/api_v1_1_0");
    await copy.remove("api/admin_api_v1_1_0");
    await expect(deploy()).rejects.toThrow("api_v1_1_0: the whole version was removed");
    await queryOn(
      database.url,
      "insert into deployment.retired_versions values ('v1_1_0', now() - interval '1 day', now(), 'https://example.gov')",
    );
    expect((await deploy()).apiSchemasChanged).toBe(true);
  });
});
