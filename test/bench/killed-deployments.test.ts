import { expect, it } from "vitest";
import { killDeployments } from "../../bench/torture/kill-deployments.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";

const database = useDeployedDatabase();

// npm run torture does it 20 times.
it("a deployment that is killed leaves the old state or the new one, and the next one completes", async () => {
  const { faults, figures } = await killDeployments(database.client, database.url, 4);
  expect(faults, figures).toEqual([]);
});
