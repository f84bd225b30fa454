import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { z } from "zod";

const column = z.object({ name: z.string(), type: z.string(), note: z.string().optional() });

const contractSchema = z.object({
  schema: z.string(),
  /** Roles that may use the schema. */
  usage: z.array(z.string()),
  /** What is served under `/<name>`: columns in order, and the roles that may read them. */
  views: z.record(z.string(), z.object({ select: z.array(z.string()), columns: z.array(column) })),
  /** What is served under `/rpc/<name>`, and the relationships; by name and arguments. */
  functions: z.record(z.string(), z.object({ execute: z.array(z.string()), returns: z.string() })),
  /** Composite types that functions return. */
  types: z.record(z.string(), z.array(column)),
});

/** What clients of one published schema rely on. */
export type Contract = z.infer<typeof contractSchema>;

/** A difference between what a version has promised and what it would serve. */
export interface ContractChange {
  schema: string;
  /** What differs, such as `general.auditee_ein was removed`. */
  what: string;
  /** What clients would see. Absent where nobody who follows the contract can notice. */
  breaks?: string;
}

const roles = (acl: string, kind: string, owner: string, privilege: string) =>
  `array(select case a.grantee when 0 then 'public' else a.grantee::regrole::text end from aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) as a
     where a.grantee <> ${owner} and a.privilege_type = '${privilege}' order by 1)`;

const columnsOf = (relation: string) =>
  `(select json_agg(json_build_object('name', a.attname, 'type', replace(upper(format_type(a.atttypid, a.atttypmod)), 'CHARACTER VARYING', 'VARCHAR')) order by a.attnum)
    from pg_attribute a where a.attrelid = ${relation} and a.attnum > 0 and not a.attisdropped)`;

const sql = `
select n.nspname as schema, ${roles("n.nspacl", "n", "n.nspowner", "USAGE")} as usage,
  (select coalesce(json_object_agg(c.relname, json_build_object('select', ${roles("c.relacl", "r", "c.relowner", "SELECT")}, 'columns', ${columnsOf("c.oid")}) order by c.relname), '{}')
    from pg_class c where c.relnamespace = n.oid and c.relkind = 'v') as views,
  (select coalesce(json_object_agg(format('%s(%s)', p.proname, pg_get_function_arguments(p.oid)), json_build_object(
      'execute', ${roles("p.proacl", "f", "p.proowner", "EXECUTE")},
      'returns', concat_ws(' ', lower(pg_get_function_result(p.oid)), case when p.proretset and p.prorows = 1 then 'rows 1' end, case p.provolatile when 'v' then 'volatile' else 'stable' end)
    ) order by p.proname, pg_get_function_arguments(p.oid)), '{}')
    from pg_proc p where p.pronamespace = n.oid) as functions,
  (select coalesce(json_object_agg(c.relname, ${columnsOf("c.oid")} order by c.relname), '{}')
    from pg_class c where c.relnamespace = n.oid and c.relkind = 'c') as types
from pg_namespace n
where n.oid in (select oid from publication.served_schemas)
order by n.nspname`;

/** What clients of a database rely on, whatever the files say: the newest promise. Of a database with drafts alone, nothing. */
export async function readRecordedContracts(client: Client): Promise<Contract[]> {
  const { rows: tables } = await client.query("select to_regclass('deployment.api_schemas') as found");
  if (tables[0].found === null) return [];
  const { rows } = await client.query<{ contracts: unknown }>(
    "select contracts from deployment.api_schemas where is_promise order by id desc limit 1",
  );
  return z.array(contractSchema).parse(rows[0]?.contracts ?? []);
}

/** Reads from the catalogue what each API schema of a database serves. */
export async function readServedContracts(client: Client): Promise<Contract[]> {
  const { rows } = await client.query(sql);
  return z.array(contractSchema).parse(rows);
}

/**
 * Reads the published contracts, `db/contracts/<schema>.json`.
 *
 * @throws Error that names a file that is not a contract
 */
export async function readContracts(directory: string): Promise<Contract[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".json")).sort();
  return await Promise.all(
    files.map(async (file) => {
      try {
        return contractSchema.parse(JSON.parse(await readFile(path.join(directory, file), "utf8")));
      } catch (cause) {
        throw new Error(
          `${path.join(directory, file)} is not a contract: ${cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause)}`,
          { cause },
        );
      }
    }),
  );
}

/** Writes a contract, a line a column so that a change of it reads well. */
export async function writeContract(directory: string, contract: Contract): Promise<void> {
  const lines = JSON.stringify(contract, null, 2)
    // What holds no other object or array goes on one line.
    .replaceAll(/\{[^{}[\]]*\}|\[[^{}[\]]*\]/g, (text) => text.replaceAll(/\n\s*/g, " "));
  await writeFile(path.join(directory, `${contract.schema}.json`), `${lines}\n`);
}

export async function removeContract(directory: string, schema: string): Promise<void> {
  await rm(path.join(directory, `${schema}.json`), { force: true });
}
