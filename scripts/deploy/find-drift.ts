import { connect } from "../../service/connect.ts";
import { compareCatalogues, type ObjectChange } from "./compare-catalogues.ts";
import { deployDatabase } from "./deploy-database.ts";
import { allSchemasPattern, type CatalogueObject, readCatalogue } from "./read-catalogue.ts";

/**
 * What a deployed database has otherwise than the files of a directory make it, in schemas, relations, functions,
 * types, roles and settings. The data is not compared.
 *
 * @param scratchUrl an empty database
 */
export async function findDrift(
  directory: string,
  databaseUrl: string,
  scratchUrl: string,
): Promise<ObjectChange[]> {
  await deployDatabase(scratchUrl, {}, { directory });
  return compareCatalogues(await readAll(scratchUrl), await readAll(databaseUrl));
}

async function readAll(databaseUrl: string): Promise<CatalogueObject[]> {
  const client = await connect(databaseUrl, "db-diff");
  try {
    const objects = await readCatalogue(client, allSchemasPattern);
    return [...objects, ...(await client.query<CatalogueObject>(beside)).rows];
  } finally {
    await client.end();
  }
}

// What stands in no schema: other schemas, roles and what they may become, migrations that were run.
const beside = `
select 'unknown schema' as kind, nspname::text as name, '' as definition
from pg_namespace
where nspname !~ '^pg_|${allSchemasPattern.replaceAll("'", "''")}'
  and nspname not in ('information_schema', 'public', 'extensions', 'staging')
  and nspname !~ '^(disclosed|suppressed)_(next|previous)$'
union all
select 'role', rolname::text, concat_ws(E'\\n',
  case when rolsuper then 'superuser' end, case when rolbypassrls then 'bypass row-level security' end,
  case when rolcanlogin then 'login' end, case when rolinherit then 'inherit' end,
  case when rolcreaterole then 'create roles' end, case when rolcreatedb then 'create databases' end,
  (select string_agg('set ' || setting, E'\\n' order by setting)
    from pg_db_role_setting, unnest(setconfig) as setting where setrole = pg_roles.oid and setdatabase = 0),
  (select string_agg('may become ' || m.roleid::regrole, E'\\n' order by m.roleid::regrole::text)
    from pg_auth_members as m where m.member = pg_roles.oid))
from pg_roles
where rolname in ('authenticator', 'gateway', 'api_public', 'api_tribal', 'report_service', 'gateway_sync', 'publisher')
union all
select 'migration', name::text, '' from deployment.migrations
order by 1, 2`;
