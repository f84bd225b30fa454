import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { readSourceTables } from "../../scripts/refresh/read-definition.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";

// Draws the diagram in docs/architecture.md. To update it, run `npx vitest run test/db/schema-diagram.test.ts -u`.

const file = path.resolve(import.meta.dirname, "../../docs/architecture.md");
const database = useDeployedDatabase();
const query = async <Row>(sql: string) => (await database.client.query(sql)).rows as Row[];

const served = "nspname in (select name from publication.served_schemas)";
const drawn = `(${served} or nspname in ('disclosed', 'suppressed', 'dissemination', 'request', 'access', 'publication', 'ledger', 'deployment'))`;

/** Draws which schemas read which, and the steps that the catalog does not show: COPY, build.sql and issuing tokens. */
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
    node({ schema: "staging", names: (await readSourceTables(database.client)).sort() }),
    ...[...relations, ...functions].map(node),
    "  staging -->|build.sql, public rows| disclosed",
    "  staging -->|build.sql, suppressed rows| suppressed",
    ...reads.map(({ reader, source }) => `  ${source} --> ${reader}`),
    ...functions.map(({ schema }) => `  ${schema} -->|issues tokens| access`),
  ].join("\n");
}

it("the diagram in docs/architecture.md matches the database", async () => {
  const text = await readFile(file, "utf8");
  const [before = "", after = ""] = text.split(/(?<=^<!-- diagram -->\n```mermaid\n)[\s\S]*?(?=^```$)/m);
  await expect(`${before}${await drawFlow()}\n${after}`).toMatchFileSnapshot(file);
});
