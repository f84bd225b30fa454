import { expect, it } from "vitest";
import { readContracts } from "../../scripts/deploy/contract.ts";
import { repositoryDirectory } from "../../scripts/deploy/deploy-database.ts";
import { readCodes } from "../../site/codes.ts";

it("each version's codes are of columns that it serves", async () => {
  for (const { schema, views } of await readContracts(repositoryDirectory)) {
    const { values, words } = readCodes(schema);
    const served = Object.entries(views).flatMap(([view, { columns }]) =>
      columns.map(({ name }) => `${view}.${name}`),
    );
    expect(served).toEqual(expect.arrayContaining([...Object.keys(values), ...Object.keys(words)]));
  }
  expect(Object.keys(readCodes("api_v1_1_0").values).length).toBeGreaterThan(30);
  expect(readCodes("api_v0_0_0")).toEqual({ values: {}, words: {} });
});
