import type { Client } from "pg";

/** What a deployment may not do: a broken contract or rule, other migrations. Its message is several lines. */
export class DeploymentRefused extends Error {
  override name = "DeploymentRefused";
}

/**
 * A version goes only after its sunset.
 *
 * @param known the schemas that stay
 * @throws DeploymentRefused
 */
export async function refuseEarlyRemoval(client: Client, known: string[]): Promise<void> {
  const { rows: tables } = await client.query("select to_regclass('deployment.retired_versions') as found");
  if (tables[0].found === null) return;
  const { rows } = await client.query<{
    schema: string;
    version: string;
    sunset: string | null;
    over: boolean | null;
  }>(
    `select nspname as schema, versions.version, to_char(sunset_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as sunset,
       sunset_at <= now() as over
     from pg_catalog.pg_namespace
     cross join lateral (select substring(nspname from 'api_(v.+)$') as version) as versions
     left join deployment.retired_versions on retired_versions.version = versions.version
     where nspname ~ '^(admin_)?api_v[0-9]'
       and nspowner = (select nspowner from pg_catalog.pg_namespace where nspname = 'request')
     order by nspname`,
  );
  const early = rows.filter(({ schema, over }) => !known.includes(schema) && over !== true);
  if (early.length === 0) return;
  throw new DeploymentRefused(
    [
      "This would remove a version that clients still use:",
      ...early.map(({ schema, sunset }) =>
        sunset === null
          ? `  ${schema}: it was never announced that it goes.`
          : `  ${schema}: it is announced to be served until ${sunset} UTC.`,
      ),
      "Put its folder back. To retire a version:",
      ...[...new Set(early.map(({ version }) => version))].map(
        (version) => `  npm run db:retire-version -- ${version} --sunset <day> --link <page>`,
      ),
    ].join("\n"),
  );
}

/** Schemas with the name of a version that somebody else has made: they are not served, and stay as they are. */
export async function describeForeignSchemas(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select format('warning: the schema %I is not of this deployment: it belongs to %s. It is not served, and left alone.', nspname, nspowner::regrole) as line
     from pg_catalog.pg_namespace
     where nspname ~ '^(admin_)?api_v[0-9]'
       and nspowner <> (select nspowner from pg_catalog.pg_namespace where nspname = 'request')
     order by nspname`,
  );
  return rows.map(({ line }) => line);
}
