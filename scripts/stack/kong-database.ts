import { type Client, escapeIdentifier, escapeLiteral } from "pg";
import { connect } from "../../service/connect.ts";
import { computeScramVerifier } from "../deploy/set-role-passwords.ts";

/** The role that Kong connects as, and the database that it owns, beside this service's on the same server. */
export const kongDatabase = "kong";

/**
 * Makes Kong's role and database, as the server's superuser; what is there stays. The role can reach no other database of
 * this service. `kong migrations` fills the database.
 *
 * @returns the database's address, as that role
 */
export async function prepareKongDatabase(superuserUrl: string, password: string): Promise<string> {
  const client = await connect(superuserUrl, "kong-database");
  try {
    const verifier = escapeLiteral(computeScramVerifier(password));
    const name = escapeIdentifier(kongDatabase);
    if (!(await exists(client, "pg_roles", "rolname"))) await client.query(`create role ${name} login`);
    await client.query(`alter role ${name} with password ${verifier}`);
    if (!(await exists(client, "pg_database", "datname"))) {
      await client.query(`create database ${name} owner ${name} template template0`);
    }
    await client.query(`revoke connect on database ${name} from public`);
  } finally {
    await client.end();
  }
  const url = new URL(superuserUrl);
  url.username = kongDatabase;
  url.password = password;
  url.pathname = `/${kongDatabase}`;
  return url.href;
}

async function exists(client: Client, table: "pg_roles" | "pg_database", column: string): Promise<boolean> {
  const { rowCount } = await client.query(`select from ${table} where ${column} = $1`, [kongDatabase]);
  return (rowCount ?? 0) > 0;
}
