import type { Client } from "pg";
import { type Contract, type ContractChange, compareContracts, describeChange } from "./contract.ts";
import { DeploymentRefused } from "./deployment-refused.ts";

/**
 * Compares what would be served with what clients were promised: what production served last. A version may be removed after
 * its announced sunset.
 *
 * @returns what clients gain and lose
 * @throws DeploymentRefused if a promise would be broken and no rollback was requested
 */
export async function refuseBrokenPromises(
  client: Client,
  served: Contract[],
  { rollsBack = false }: { rollsBack?: boolean | undefined },
): Promise<ContractChange[]> {
  const { rows } = await client.query<{ contracts: Contract[]; retired: string[] }>(
    `select contracts, array(select version from deployment.retired_versions where sunset_at <= now()) as retired
     from publication.promises order by id desc limit 1`,
  );
  const [{ contracts = [], retired = [] } = {}] = rows;
  const promised = contracts.filter(({ schema }) => !retired.includes(schema.replace(/^(admin_)?api_/, "")));
  if (promised.length === 0) return [];
  const changes = compareContracts(promised, served);
  const [oldest = "", first = ""] = [contracts[0]?.schema, served[0]?.schema];
  if (oldest !== first && served.some(({ schema }) => schema === oldest)) {
    const breaks = `clients that send no accept-profile would get it instead of ${oldest}`;
    changes.push({ schema: first, what: "it is now the version with the lowest number", breaks });
  }
  const broken = changes.filter(({ breaks }) => breaks !== undefined);
  if (broken.length === 0 || rollsBack) return changes;
  throw new DeploymentRefused(
    [
      `This deployment would remove or change what clients were promised: ${broken.map(describeChange).join("; ")}.`,
      "If the database is newer than this checkout, update the checkout. To change the API, move this change to a new",
      "version. To remove a version, announce its retirement first (docs/recipes.md). To roll back anyway, run",
      "npm run db:deploy -- --roll-back",
    ].join("\n"),
  );
}

/** Records contracts as a promise to clients, unless they are already promised. */
export async function recordPromise(client: Client, served: Contract[]): Promise<void> {
  await client.query(
    `insert into publication.promises (contracts)
     select $1::jsonb where $1::jsonb is distinct from (select contracts from publication.promises order by id desc limit 1)`,
    [JSON.stringify(served)],
  );
}
