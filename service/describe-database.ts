import type { ClientConfig } from "pg";

/**
 * How to connect to a database whose address and password are given apart. Without an address, node-postgres reads
 * the libpq variables: PGHOST, PGDATABASE, …
 */
export function describeDatabase(
  connectionString: string | undefined,
  password: string | undefined,
): ClientConfig {
  if (connectionString === undefined) return password === undefined ? {} : { password };
  const url = new URL(connectionString);
  // pg ignores a password beside an address that lacks one.
  if (password !== undefined) url.password = encodeURIComponent(password);
  return { connectionString: url.href };
}
