import type { Client } from "pg";
import { requiredLocale } from "../servers/scratch-database.ts";
import { DeploymentRefused, refuseIfFound } from "./deployment-refused.ts";

/** The oldest supported PostgreSQL: the first with the `builtin` locale provider, which sorts text alike on every machine. */
export const oldestVersion = 17;

/**
 * Refuses a server that is too old. Runs before every other query.
 *
 * @throws DeploymentRefused
 */
export async function refuseOldServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_version: string }>("show server_version");
  const version = rows[0]?.server_version ?? "";
  if (Number.parseInt(version, 10) >= oldestVersion) return;
  throw new DeploymentRefused(
    `This server is PostgreSQL ${version}. The oldest supported version is PostgreSQL ${oldestVersion}. Nothing was changed. Upgrade the server.`,
  );
}

/**
 * Refuses a first deployment to a database that sorts text in its own way. If an earlier deployment accepted the database,
 * only warns.
 *
 * @throws DeploymentRefused with the SQL that creates the database
 */
export async function refuseOtherCollation(client: Client, report: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{
    name: string;
    owner: string;
    found: string | null;
    is_deployed: boolean;
  }>(collation);
  const { name, owner, found = null, is_deployed = false } = rows[0] ?? {};
  if (found === null) return;
  const problem = `The database ${name} has the ${found}, not UTF8 and the builtin locale C.UTF-8, so it may sort and compare text differently than other machines.`;
  const creation = `create database ${name} owner ${owner} template template0 ${requiredLocale};`;
  if (!is_deployed)
    throw new DeploymentRefused(`${problem} Nothing was changed. Create the database again:\n  ${creation}`);
  report(
    `Warning: ${problem} Back it up, and restore it into a database made like this (docs/operations.md, Back up and restore):\n  ${creation}`,
  );
}

const collation = `
select quote_ident(datname) as name, quote_ident(pg_get_userbyid(datdba)) as owner,
  case when (encoding, datlocprovider, datlocale) is distinct from (pg_char_to_encoding('UTF8'), 'b', 'C.UTF-8') then
    format('encoding %s and the %s locale %s', pg_encoding_to_char(encoding),
      case datlocprovider when 'b' then 'builtin' when 'i' then 'icu' else 'libc' end, coalesce(datlocale, datcollate))
  end as found,
  to_regclass('deployment.api_schemas') is not null as is_deployed
from pg_catalog.pg_database
where datname = current_database()`;

/**
 * Refuses a role that may not deploy. A superuser may. Any other role must own the database, have createrole, and administer
 * those of this project's roles that the server already has.
 *
 * @param rights the list of what each role may do, which names the roles
 * @throws DeploymentRefused with the missing rights as SQL for an administrator
 */
export async function refuseMissingRights(client: Client, rights: string[]): Promise<void> {
  const roles = rights.flatMap((fact) => /^(\w+) is a role$/.exec(fact)?.[1] ?? []);
  const { rows } = await client.query<{ role: string; statement: string }>(missingRights, [roles]);
  refuseIfFound(
    `${rows[0]?.role} lacks the rights to deploy here. Nothing was changed. Ask an administrator to run:`,
    rows.map(({ statement }) => `${statement};`),
    "A role that only makes deployment plans, or only manages keys, needs fewer rights: see docs/operations.md, Rights.",
  );
}

const missingRights = `
select current_user::text as role, statement
from (
  select 1 as place, format('alter role %I createrole', current_user) as statement
  from pg_catalog.pg_roles
  where pg_roles.rolname = current_user and not pg_roles.rolcreaterole
  union all
  select 2, format('alter database %I owner to %I', pg_database.datname, current_user)
  from pg_catalog.pg_database
  where pg_database.datname = current_database() and not pg_has_role(pg_database.datdba, 'usage')
  union all
  select 3, format('grant %s to %I with admin option', string_agg(quote_ident(pg_roles.rolname), ', ' order by pg_roles.rolname), current_user)
  from pg_catalog.pg_roles
  where pg_roles.rolname = any ($1) and not pg_has_role(pg_roles.oid, 'member with admin option')
  having count(*) > 0
  union all
  -- Deployed objects belong to the role that deployed first.
  select 4, format('grant %I to %I', pg_get_userbyid(pg_namespace.nspowner), current_user)
  from pg_catalog.pg_namespace
  where pg_namespace.nspname = 'deployment' and not pg_has_role(pg_namespace.nspowner, 'usage')
) as missing
where not (select pg_roles.rolsuper from pg_catalog.pg_roles where pg_roles.rolname = current_user)
order by place`;
