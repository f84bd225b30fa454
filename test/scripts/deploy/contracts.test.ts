import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Contract, compareContracts, readContracts } from "../../../scripts/deploy/contract.ts";
import { deployDatabase, repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { recordPromise } from "../../../scripts/deploy/promises.ts";
import { queryOn } from "../../support/query-on.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { run, runDeploy, useCopy, viewFile } from "./support.ts";

const contracts = await readContracts(repositoryDirectory);
const view = "additional_eins";
const relationship = `general(api_v1_1_0.${view})`;

describe("a change to a version", () => {
  const columnsOf = ({ views }: Contract) => views[view]?.columns ?? [];
  const other = { name: "other_id", type: "TEXT" };
  const none = { execute: [], returns: "" };
  type Changes = Record<string, (served: Contract) => unknown>;
  const breaking: Changes = {
    "additional_eins.audit_year was removed": (c) => columnsOf(c).splice(2, 1),
    "additional_eins.audit_year is “VARCHAR(4)” instead of “TEXT”": (c) =>
      columnsOf(c).splice(2, 1, { name: "audit_year", type: "VARCHAR(4)" }),
    "the order of columns in additional_eins has changed": (c) => columnsOf(c).unshift(other),
    "additional_eins was removed": (c) => delete c.views[view],
    "the function general(api_v1_1_0.additional_eins) was removed": (c) => delete c.functions[relationship],
    "the function general(api_v1_1_0.additional_eins) is “text stable” instead of": (c) =>
      Object.assign(c.functions[relationship] ?? {}, { returns: "text stable" }),
    "the function general(state text) was added": (c) =>
      Object.assign(c.functions, { "general(state text)": none }),
    "the type file_access was removed": (c) => delete c.types.file_access,
    "the type file_access.expires_at was removed": (c) => c.types.file_access?.pop(),
    "the grant of additional_eins to api_public was removed": (c) => c.views[view]?.select.shift(),
    "the grant of the schema to public was added": (c) => c.usage.push("public"),
  };
  const harmless: Changes = {
    "additional_eins.other_id was added": (c) => columnsOf(c).push(other),
    "more was added": (c) => Object.assign(c.views, { more: { select: [], columns: [] } }),
    "the function general(api_v1_1_0.more) was added": (c) =>
      Object.assign(c.functions, { "general(api_v1_1_0.more)": none }),
  };
  const find = (what: string, change: (served: Contract) => unknown) => {
    const served = structuredClone(contracts);
    for (const contract of served)
      if (contract.schema.startsWith(what.includes("type") ? "admin" : "api")) change(contract);
    return compareContracts(contracts, served).find((found) => found.what.startsWith(what));
  };
  it.each(Object.entries(breaking))("%s: it breaks clients", (what, change) =>
    expect(find(what, change)?.breaks).toEqual(expect.any(String)),
  );
  it.each(Object.entries(harmless))("%s: clients notice nothing", (what, change) =>
    expect([find(what, change)?.what, find(what, change)?.breaks]).toEqual([what, undefined]),
  );

  it("may be none, or remove or add a whole version", () => {
    expect(compareContracts(contracts, structuredClone(contracts))).toEqual([]);
    const removed = { what: "the whole version was removed", breaks: expect.any(String) };
    expect(compareContracts(contracts, contracts.slice(1))).toMatchObject([removed]);
    expect(compareContracts([], contracts).every(({ breaks }) => breaks === undefined)).toBe(true);
  });
});

describe("a contract", () => {
  const database = useDeployedDatabase();
  const copy = useCopy();
  const deploy = (options = {}) =>
    deployDatabase(database.url, {}, { directory: copy.directory, takesRights: true, ...options });

  it("may change freely as a draft, but not once it is promised", async () => {
    await copy.addColumn();
    await deploy();
    const older = await copy.read(viewFile);
    await copy.write(viewFile, older.replace(/,\n {2}report_id as other_id|comment on .*other_id .*/g, ""));
    await copy.edit(viewFile, (text) => text.replaceAll("to api_public, api_tribal", "to api_tribal"));
    expect((await deploy()).changes).toEqual([]);
    await copy.write(viewFile, older);
    await deploy({ promises: true });
    await expect(deployDatabase(database.url)).rejects.toThrow(
      /^This deployment would remove or change what clients were promised: api_v1_1_0: additional_eins\.other_id was removed/,
    );
  });

  it("is promised when production deploys an unchanged draft: --promise, or ENVIRONMENT=production", async () => {
    const production = { DATABASE_URL: database.url, ENVIRONMENT: "production" };
    const args = ["--directory", copy.directory];
    for (const [more, env] of [
      [["--promise"], { DATABASE_URL: database.url }],
      [[], production],
    ] as const) {
      await queryOn(database.url, "truncate publication.promises");
      await deployDatabase(database.url);
      await copy.addColumn();
      await deploy();
      expect((await run(runDeploy, [...args, ...more], env)).code).toBe(0);
      await expect(deployDatabase(database.url)).rejects.toThrow("additional_eins.other_id was removed");
      expect((await run(runDeploy, [...args, ...more], env)).output).toContain("Nothing to do.");
      await copy.write(viewFile, await readFile(path.join(repositoryDirectory, viewFile), "utf8"));
    }
    await queryOn(database.url, "truncate publication.promises");
    const typo = await run(runDeploy, args, { ...production, ENVIRONMENT: "prod" });
    expect(typo).toMatchObject({
      code: 1,
      output: expect.stringContaining("ENVIRONMENT is prod. Set it to production,"),
    });
  });

  it("is recorded once, however often it is deployed", async () => {
    await queryOn(database.url, "truncate publication.promises");
    const count = () => queryOn(database.url, "select count(*)::integer from publication.promises");
    for (const promised of [contracts, structuredClone(contracts)])
      await recordPromise(database.client, promised);
    expect(await count()).toEqual([{ count: 1 }]);
    await recordPromise(database.client, contracts.slice(1));
    expect(await count()).toEqual([{ count: 2 }]);
    await queryOn(database.url, "truncate publication.promises");
  });

  it("keeps a promised version until its announced sunset, and the oldest one as the default", async () => {
    await deployDatabase(database.url, {}, { promises: true, rollsBack: true });
    await copy.copyVersion("v1_0_0");
    await expect(deploy()).rejects.toThrow("api_v1_0_0: it is now the version with the lowest number");
    await copy.remove("api/api_v1_0_0");
    await copy.copyVersion("v1_9_0");
    await deploy();
    await copy.remove("api/api_v1_1_0");
    await copy.remove("api/admin_api_v1_1_0");
    await expect(deploy()).rejects.toThrow("api_v1_1_0: the whole version was removed");
    await queryOn(
      database.url,
      "insert into deployment.retired_versions values ('v1_1_0', now() - interval '1 day', now() + interval '1 day', 'https://example.gov')",
    );
    await expect(deploy()).rejects.toThrow("api_v1_1_0: the whole version was removed");
    await queryOn(database.url, "update deployment.retired_versions set sunset_at = now()");
    expect((await deploy()).apiSchemasChanged).toBe(true);
  });
});
