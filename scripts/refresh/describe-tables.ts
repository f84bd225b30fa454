import type { Client } from "pg";

/** A table of the bulk files, with its JSON Table Schema (https://specs.frictionlessdata.io/table-schema/). */
export interface TableDescription {
  name: string;
  title: string;
  description: string;
  schema: {
    fields: TableField[];
    /** In CSV null is empty; so is the empty string, but in quotes. */
    missingValues: string[];
    primaryKey?: string[];
    foreignKeys?: { fields: string[]; reference: { resource: string; fields: string[] } }[];
  };
}

interface TableField {
  name: string;
  type: "string" | "integer" | "boolean" | "date";
  description: string;
  constraints?: { required: true };
  trueValues?: string[];
  falseValues?: string[];
}

interface FoundTable {
  name: string;
  comment: string;
  columns: { name: string; type: string; is_required: boolean; comment: string }[];
  primary_key: string[] | null;
  foreign_keys: { fields: string[]; reference: { resource: string; fields: string[] } }[];
}

/**
 * Describes the source tables of a data set: columns and keys as the database has them, texts as the newest version of
 * the API has them.
 */
export async function describeTables(
  client: Client,
  schema: "disclosed" | "disclosed_next",
  tables: string[],
): Promise<TableDescription[]> {
  const { rows } = await client.query<FoundTable>(tablesSql, [schema, tables]);
  return rows.map(({ name, comment, columns, primary_key, foreign_keys }) => {
    const [title = "", ...rest] = comment.split("\n");
    return {
      name,
      title,
      description: rest.join("\n").trim(),
      schema: {
        fields: columns.map(describeField),
        missingValues: [""],
        ...(primary_key === null ? {} : { primaryKey: primary_key }),
        ...(foreign_keys.length === 0 ? {} : { foreignKeys: foreign_keys }),
      },
    };
  });
}

function describeField({ name, type, is_required, comment }: FoundTable["columns"][number]): TableField {
  return {
    name,
    type: fieldTypes[type] ?? "string",
    description: comment,
    // As COPY writes them.
    ...(type === "boolean" ? { trueValues: ["t"], falseValues: ["f"] } : {}),
    ...(is_required ? { constraints: { required: true } } : {}),
  };
}

const fieldTypes: Record<string, TableField["type"]> = {
  bigint: "integer",
  boolean: "boolean",
  date: "date",
  integer: "integer",
};

const keyColumns = (relation: string, key: string) => `(
    select json_agg(attname order by place)
    from unnest(${key}) with ordinality as part (attnum, place)
    join pg_catalog.pg_attribute on attrelid = ${relation} and pg_attribute.attnum = part.attnum
  )`;

// Stubs, which only general has, leave out every column but report_id.
const tablesSql = `
with versions as (
  select oid, place from publication.served_schemas where name like 'api%'
)
select pg_class.relname as name,
  coalesce((
    select obj_description(view.oid, 'pg_class')
    from versions join pg_catalog.pg_class as view on view.relnamespace = versions.oid and view.relname = pg_class.relname
    order by versions.place desc limit 1
  ), '') as comment,
  (
    select json_agg(json_build_object(
      'name', pg_attribute.attname,
      'type', format_type(pg_attribute.atttypid, null),
      'is_required', pg_attribute.attnotnull and (pg_class.relname <> 'general' or pg_attribute.attname = 'report_id'),
      'comment', coalesce((
        select col_description(view.oid, shown.attnum)
        from versions
        join pg_catalog.pg_class as view on view.relnamespace = versions.oid and view.relname = pg_class.relname
        join pg_catalog.pg_attribute as shown on shown.attrelid = view.oid and shown.attname = pg_attribute.attname
        order by versions.place desc limit 1
      ), '')
    ) order by pg_attribute.attnum)
    from pg_catalog.pg_attribute
    where pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
  ) as columns,
  (
    select ${keyColumns("pg_class.oid", "conkey")}
    from pg_catalog.pg_constraint where conrelid = pg_class.oid and contype in ('p', 'u') order by contype, conname limit 1
  ) as primary_key,
  (
    select coalesce(json_agg(json_build_object(
      'fields', ${keyColumns("conrelid", "conkey")},
      'reference', json_build_object('resource', target.relname, 'fields', ${keyColumns("confrelid", "confkey")})
    ) order by conname), '[]')
    from pg_catalog.pg_constraint join pg_catalog.pg_class as target on target.oid = confrelid
    where conrelid = pg_class.oid and contype = 'f'
  ) as foreign_keys
from unnest($2::text[]) with ordinality as wanted (name, place)
join pg_catalog.pg_class on pg_class.relnamespace = $1::regnamespace and pg_class.relname = wanted.name
order by wanted.place`;
