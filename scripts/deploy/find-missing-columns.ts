import type { Client } from "pg";

interface ReadColumn {
  view: string;
  table: string;
  name: string;
  type: string;
}

// The columns of dissemination that each served view reads, by the catalogue's own dependencies.
const read = `
select distinct view.oid::regclass::text as view, relation.relname::text as table, pg_attribute.attname::text as name,
  format_type(pg_attribute.atttypid, pg_attribute.atttypmod) as type
from publication.served_schemas
join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid and view.relkind = 'v'
join pg_catalog.pg_rewrite on pg_rewrite.ev_class = view.oid
join pg_catalog.pg_depend on pg_depend.classid = 'pg_rewrite'::regclass and pg_depend.objid = pg_rewrite.oid
  and pg_depend.refclassid = 'pg_class'::regclass and pg_depend.refobjsubid > 0
join pg_catalog.pg_class as relation on relation.oid = pg_depend.refobjid
  and relation.relnamespace = to_regnamespace('dissemination')
join pg_catalog.pg_attribute on pg_attribute.attrelid = relation.oid and pg_attribute.attnum = pg_depend.refobjsubid
order by 1, 3`;

const published = `
select relation.relname::text as table, pg_attribute.attname::text as name,
  format_type(pg_attribute.atttypid, pg_attribute.atttypmod) as type
from pg_catalog.pg_class as relation
join pg_catalog.pg_attribute on pg_attribute.attrelid = relation.oid and pg_attribute.attnum > 0
  and not pg_attribute.attisdropped
where relation.relnamespace = to_regnamespace('dissemination')`;

/** Why the API cannot be deployed on the published data set, if it reads columns that the data set does not have. */
export async function findMissingColumns(client: Client, scratch: Client): Promise<string | undefined> {
  const { rows: there } = await client.query<Omit<ReadColumn, "view">>(published);
  // A first deployment publishes an empty data set before.
  if (there.length === 0) return undefined;
  const { rows: wanted } = await scratch.query<ReadColumn>(read);
  const missing = wanted.filter(
    ({ table, name, type }) =>
      !there.some((column) => column.table === table && column.name === name && column.type === type),
  );
  if (missing.length === 0) return undefined;
  return [
    "The published data set does not have what these views read:",
    ...missing.map(({ view, table, name, type }) => `  ${view}: dissemination.${table}.${name} (${type})`),
    "Publish one that has: npm run refresh, then deploy.",
  ].join("\n");
}
