import path from "node:path";
import { connect } from "../../service/connect.ts";
import { compareContracts } from "./compare-contracts.ts";
import {
  type Contract,
  type ContractChange,
  readContracts,
  readServedContracts,
  writeContract,
} from "./contract.ts";
import { deployDatabase } from "./deploy-database.ts";

/**
 * Compares the contracts of a directory with what its files serve, and writes down what was added.
 *
 * @param databaseUrl an empty database
 * @param unpublished a version that has never been deployed: its contract is written anew, whatever has changed
 * @returns the differences; with one that breaks a contract, nothing is written
 */
export async function updateContracts(
  databaseUrl: string,
  directory: string,
  writes: boolean,
  unpublished?: string,
): Promise<ContractChange[]> {
  const isNew = ({ schema }: Contract) => schema.replace(/^(admin_)?api_/, "") === unpublished;
  const contracts = await readContracts(path.join(directory, "contracts"));
  const published = contracts.filter((contract) => !isNew(contract));
  const served = await deployDraft(databaseUrl, directory);
  const changes = compareContracts(published, served);
  if (!writes || changes.some(({ breaks }) => breaks !== undefined)) return changes;
  for (const contract of served) {
    const before = published.find(({ schema }) => schema === contract.schema);
    if (before !== undefined && compareContracts([before], [contract]).length === 0) continue;
    const old = contracts.find(({ schema }) => schema === contract.schema);
    await writeContract(path.join(directory, "contracts"), old ? keepNotes(old, contract) : contract);
  }
  return changes;
}

async function deployDraft(databaseUrl: string, directory: string): Promise<Contract[]> {
  await deployDatabase(databaseUrl, {}, { directory });
  const client = await connect(databaseUrl, "db-contract");
  try {
    return await readServedContracts(client);
  } finally {
    await client.end();
  }
}

/** The order of views and the notes are people's. */
function keepNotes(before: Contract, after: Contract): Contract {
  const order = [...new Set([...Object.keys(before.views), ...Object.keys(after.views)])];
  const views = order.flatMap((name) => {
    const view = after.views[name];
    if (view === undefined) return [];
    const columns = view.columns.map((column) => ({
      ...before.views[name]?.columns.find((old) => old.name === column.name),
      ...column,
    }));
    return [[name, { ...view, columns }] as const];
  });
  return { ...after, views: Object.fromEntries(views) };
}
