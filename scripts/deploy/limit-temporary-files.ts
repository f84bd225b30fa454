import type { Client } from "pg";

/**
 * Limits the temporary files of each request, unless the server or the role already has a limit. Only a superuser, or a role
 * with the privilege `set` on the parameter, may do this; for any other role, reports the statement for an administrator.
 */
export async function limitTemporaryFiles(client: Client, report: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ is_limited: boolean; may_limit: boolean; role: string }>(findLimit);
  const { is_limited = false, may_limit = false, role } = rows[0] ?? {};
  if (is_limited) return;
  if (may_limit) await client.query(limit);
  else
    report(
      `Warning: nothing limits the temporary files of a request, which could fill the disk, and ${role} may not set the limit. Ask an administrator to run:\n  ${limit};`,
    );
}

// PostgREST keeps its connections, so its next start applies this. 2 GB is enough to sort every row of the largest table.
const limit = "alter role authenticator set temp_file_limit = '2GB'";

const findLimit = `
select
  current_setting('temp_file_limit') <> '-1' or exists (
    select from pg_catalog.pg_db_role_setting
    cross join lateral unnest(setconfig) as setting
    where setrole = 'authenticator'::regrole and setting like 'temp\\_file\\_limit=%'
      and setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
  ) as is_limited,
  has_parameter_privilege('temp_file_limit', 'set') as may_limit,
  quote_ident(current_user) as role`;
