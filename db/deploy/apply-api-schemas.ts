import type { Client, DatabaseError } from "pg";
import type { ApiFiles } from "./read-api-files.ts";

/**
 * Rebuilds the API schemas and `request` from the files of `db/api`, in one transaction, and tells PostgREST.
 * Does nothing when these very files are what is deployed.
 *
 * @returns whether anything was done
 * @throws Error that names file, line and column, when a file fails: then nothing has changed
 */
export async function applyApiSchemas(client: Client, { files, sha256 }: ApiFiles): Promise<boolean> {
  await client.query("begin");
  try {
    // One deployment at a time; a second waits and then finds nothing to do.
    await client.query("lock table deployment.api_schemas in share row exclusive mode");
    const deployed = await client.query<{ sha256: string }>(
      "select sha256 from deployment.api_schemas order by id desc limit 1",
    );
    if (deployed.rows[0]?.sha256 === sha256) {
      await client.query("rollback");
      return false;
    }
    await client.query(`
      do $$
      declare
        schema_name text;
      begin
        for schema_name in
          select nspname from pg_catalog.pg_namespace
          where nspname = 'request' or nspname ~ '^(admin_)?api_v[0-9]'
        loop
          execute format('drop schema %I cascade', schema_name);
        end loop;
      end
      $$`);
    for (const file of files) {
      await client.query(file.sql).catch((error: DatabaseError) => {
        throw new Error(describeFailure(file.path, file.sql, error), { cause: error });
      });
    }
    await client.query("insert into deployment.api_schemas (sha256) values ($1)", [sha256]);
    await client.query("notify pgrst, 'reload config'");
    await client.query("notify pgrst, 'reload schema'");
    await client.query("commit");
    return true;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

function describeFailure(file: string, sql: string, error: DatabaseError): string {
  const before = sql.slice(0, Number(error.position ?? 1) - 1);
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n");
  const text = sql.split("\n")[line - 1] ?? "";
  const where = error.position === undefined ? file : `${file}:${line}:${column}`;
  return [
    `db/api/${where}: ${error.message}`,
    ...(error.position === undefined ? [] : [`  ${text}`]),
    ...(error.detail === undefined ? [] : [`  detail: ${error.detail}`]),
    ...(error.hint === undefined ? [] : [`  hint: ${error.hint}`]),
  ].join("\n");
}
