import type { Client } from "pg";
import { compareContracts } from "./compare-contracts.ts";
import { type Contract, type ContractChange, readRecordedContracts } from "./contract.ts";
import { hasTable } from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";

/**
 * Compares what would be served with what clients were promised: what the newest deployment with --promise has served.
 * Versions may go after the day that was announced.
 *
 * @returns what clients gain and lose
 * @throws DeploymentRefused when a promise would be broken and no rollback was asked for
 */
export async function refuseBrokenPromises(
  client: Client,
  served: Contract[],
  { rollsBack = false }: { rollsBack?: boolean },
): Promise<ContractChange[]> {
  const over = await readRetired(client);
  const promised = (await readRecordedContracts(client)).filter(
    ({ schema }) => !over.includes(schema.replace(/^(admin_)?api_/, "")),
  );
  if (promised.length === 0) return [];
  const changes = compareContracts(promised, served);
  const broken = changes.filter(({ breaks }) => breaks !== undefined);
  if (broken.length === 0 || rollsBack) return changes;
  const versions = [...new Set(broken.map(({ schema }) => schema.replace(/^(admin_)?api_/, "")))];
  throw new DeploymentRefused(
    [
      `This checkout would take away, or change, what clients of ${versions.join(" and ")} were promised: ${broken.map(({ schema, what }) => `${schema}: ${what}`).join("; ")}.`,
      ...broken.map(({ schema, what, breaks }) => `  ${schema}: ${what}. ${breaks}`),
      "If this checkout is older than the database, deploy the newer one. To change the API, put it back and make a new version:",
      ...versions.map((version) => `  npm run db:new-version -- ${suggestNext(version)} --from ${version}`),
      ...versions
        .filter((version) =>
          broken.some(({ schema, what }) => schema.endsWith(version) && what.startsWith("the whole version")),
        )
        .map((version) => `  npm run db:retire-version -- ${version} --sunset <day> --link <page>`),
      "To take it away nevertheless, as a rollback: npm run db:deploy -- --roll-back",
    ].join("\n"),
  );
}

/** The versions whose announced end has come. */
async function readRetired(client: Client): Promise<string[]> {
  if (!(await hasTable(client))) return [];
  const { rows } = await client.query<{ version: string }>(
    "select version from deployment.retired_versions where sunset_at <= now()",
  );
  return rows.map(({ version }) => version);
}

function suggestNext(version: string): string {
  const numbers = version.slice(1).split("_").map(Number);
  const minor = numbers.length > 1 ? 1 : 0;
  return `v${numbers.map((number, index) => (index < minor ? number : index === minor ? number + 1 : 0)).join("_")}`;
}
