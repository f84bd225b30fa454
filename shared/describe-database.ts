import type { ClientConfig } from "pg";

/**
 * Returns connection settings for a database whose URL and password are configured separately. Without a URL,
 * node-postgres reads libpq's variables: PGHOST, PGDATABASE, …
 */
export function describeDatabase(
  connectionString: string | undefined,
  password: string | undefined,
): ClientConfig {
  if (connectionString === undefined) return password === undefined ? {} : { password };
  const url = new URL(connectionString);
  // node-postgres ignores the option `password` if a connection string is given.
  if (password !== undefined) url.password = encodeURIComponent(password);
  return { connectionString: url.href };
}
