import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { readSourceTables } from "../../scripts/refresh/read-definition.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";

// The diagrams of docs/architecture.md are made from the catalog: `npx vitest run test/db/schema-diagram.test.ts -u` writes them.

const file = path.resolve(import.meta.dirname, "../../docs/architecture.md");
const database = useDeployedDatabase();
const query = async <Row>(sql: string, values: unknown[] = []) =>
  (await database.client.query(sql, values)).rows as Row[];

const served = "nspname in (select name from publication.served_schemas)";
const drawn = `(${served} or nspname in ('disclosed', 'suppressed', 'dissemination', 'request', 'access', 'publication', 'deployment'))`;

/** Which schema's views read which schema, and what only functions and files tell: the way in, and who issues tokens. */
async function drawFlow(): Promise<string> {
  const relations = await query<{ schema: string; names: string[] }>(
    `select nspname as schema, array_agg(relname::text order by relname) as names
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'v', 'm') and ${drawn} group by 1 order by 1`,
  );
  const functions = await query<{ schema: string; names: string[] }>(
    `select nspname as schema, array_agg(distinct proname || '()') as names
     from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
     where nspname like 'admin%' and ${served} group by 1 order by 1`,
  );
  const reads = await query<{ reader: string; source: string }>(
    `select distinct readers.nspname as reader, sources.nspname as source
     from pg_depend
     join pg_rewrite on pg_rewrite.oid = objid and classid = 'pg_rewrite'::regclass
     join pg_class as reader on reader.oid = ev_class
     join pg_namespace as readers on readers.oid = reader.relnamespace
     join pg_class as source on source.oid = refobjid and refclassid = 'pg_class'::regclass
     join pg_namespace as sources on sources.oid = source.relnamespace
     where readers.oid <> sources.oid and readers.nspname !~ '^(pg_|information_schema)' and sources.nspname !~ '^pg_'
     order by 2, 1`,
  );
  const node = ({ schema, names }: { schema: string; names: string[] }) =>
    `  ${schema}["<b>${schema}</b><br/>${names.join("<br/>")}"]`;
  return [
    "flowchart LR",
    '  files["source files"] -->|COPY| staging',
    node({ schema: "staging", names: (await readSourceTables()).sort() }),
    ...[...relations, ...functions].map(node),
    "  staging -->|build.sql, public rows| disclosed",
    "  staging -->|build.sql, suppressed rows| suppressed",
    ...reads.map(({ reader, source }) => `  ${source} --> ${reader}`),
    ...functions.map(({ schema }) => `  ${schema} -->|issues tokens| access`),
  ].join("\n");
}

/** The tables of a schema with their columns and foreign keys. */
async function drawTables(schema: string): Promise<string> {
  const columns = await query<{ table: string; column: string; type: string; key: string }>(
    `select relname as table, attname as column, pg_type.typname as type,
       concat_ws(', ',
         case when exists (select from pg_constraint where conrelid = pg_class.oid and contype = 'p' and attnum = any (conkey)) then 'PK' end,
         case when exists (select from pg_constraint where conrelid = pg_class.oid and contype = 'f' and attnum = any (conkey)) then 'FK' end
       ) as key
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
     join pg_type on pg_type.oid = atttypid
     where relnamespace = $1::regnamespace and relkind = 'r' order by relname, attnum`,
    [schema],
  );
  const keys = await query<{ table: string; target: string; columns: string }>(
    `select relation.relname as table, target.relname as target,
       (select string_agg(attname, ', ') from pg_attribute where attrelid = conrelid and attnum = any (conkey)) as columns
     from pg_constraint join pg_class as relation on relation.oid = conrelid join pg_class as target on target.oid = confrelid
     where contype = 'f' and connamespace = $1::regnamespace order by 1, 2, 3`,
    [schema],
  );
  const tables = [...new Set(columns.map(({ table }) => table))];
  return [
    "erDiagram",
    ...tables.flatMap((table) => [
      `  ${table} {`,
      ...columns
        .filter((column) => column.table === table)
        .map(({ column, type, key }) => `    ${type.replace(/^_(.+)/, "$1[]")} ${column} ${key}`.trimEnd()),
      "  }",
    ]),
    ...keys.map(({ table, target, columns }) => `  ${target} ||--o{ ${table} : "${columns}"`),
  ].join("\n");
}

it("docs/architecture.md shows the schemas as they are", async () => {
  const diagrams: Record<string, string> = { flow: await drawFlow() };
  for (const schema of ["access", "publication"]) diagrams[schema] = await drawTables(schema);
  const text = await readFile(file, "utf8");
  const found = [...text.matchAll(/<!-- diagram: (\w+) -->\n```mermaid\n[\s\S]*?```/g)].map(
    ([, name]) => name,
  );
  expect(found).toEqual(Object.keys(diagrams));
  const now = text.replaceAll(
    /(<!-- diagram: (\w+) -->\n```mermaid\n)[\s\S]*?```/g,
    (_all, start, name) => `${start}${diagrams[name]}\n\`\`\``,
  );
  await expect(now).toMatchFileSnapshot(file);
});
