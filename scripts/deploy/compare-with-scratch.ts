import { connect } from "../../service/connect.ts";
import { compareCatalogues, type ObjectChange } from "./compare-catalogues.ts";
import { deployDatabase } from "./deploy-database.ts";
import { type CataloguePart, readCatalogue, readCatalogueQueries } from "./read-catalogue.ts";

/**
 * What a deployed database has otherwise than the files of a directory make it, the data set's definitions included.
 * The data is not compared.
 *
 * @param scratchUrl an empty database
 */
export async function compareWithScratch(
  directory: string,
  databaseUrl: string,
  scratchUrl: string,
): Promise<ObjectChange[]> {
  await deployDatabase(scratchUrl, {}, { directory });
  const queries = [...(await readCatalogueQueries(directory)), beside];
  return compareCatalogues(await readAll(scratchUrl, queries), await readAll(databaseUrl, queries));
}

async function readAll(databaseUrl: string, queries: string[]): Promise<CataloguePart[]> {
  const client = await connect(databaseUrl, "db-diff");
  try {
    return await readCatalogue(client, queries);
  } finally {
    await client.end();
  }
}

// What the project does not own: other schemas. And the migrations that were run, which no catalogue tells.
const beside = `
select 'unknown schema ' || nspname as object, '' as part, 'durable' as scope, '' as definition
from pg_catalog.pg_namespace
where nspname !~ '^pg_|^(information_schema|public|extensions|staging|request|access|deployment|publication|dissemination)$'
  and nspname !~ '^(disclosed|suppressed)(_next|_previous)?$'
  and not (
    nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$'
    and nspowner = (select request.nspowner from pg_catalog.pg_namespace as request where request.nspname = 'request')
  )
union all
select 'migration ' || name, '', 'durable', '' from deployment.migrations`;
