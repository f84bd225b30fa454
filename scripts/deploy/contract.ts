import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { readDeploymentFile } from "../sql/read-sql-file.ts";

interface Column {
  name: string;
  type: string;
}

/** What clients of one API schema rely on. */
export interface Contract {
  schema: string;
  /** Roles that may use the schema. */
  usage: string[];
  /** Views served at `/<name>`: columns in order, and the roles that may read them. */
  views: Record<string, { select: string[]; columns: Column[] }>;
  /** Functions served at `/rpc/<name>`, and relationships, by name and arguments. */
  functions: Record<string, { execute: string[]; returns: string }>;
  /** Composite types that functions return. */
  types: Record<string, Column[]>;
}

/** A difference between two contracts of an API schema. */
export interface ContractChange {
  schema: string;
  /** Such as `general.auditee_ein was removed`. */
  what: string;
  /** What clients notice. Undefined if clients that follow the contract notice nothing. */
  breaks?: string;
}

/** Reads from the catalog what each API schema of a database serves. */
export async function readServedContracts(client: Client): Promise<Contract[]> {
  return (await client.query<Contract>(await readDeploymentFile("contracts.sql"))).rows;
}

/** Reads `contracts/<schema>.json` of a `db` directory. */
export async function readContracts(directory: string): Promise<Contract[]> {
  const folder = path.join(directory, "contracts");
  const files = (await readdir(folder)).filter((file) => file.endsWith(".json")).sort();
  return await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(path.join(folder, file), "utf8")) as Contract),
  );
}

/** Writes what is served to `contracts/*.json` of a `db` directory. */
export async function writeContracts(directory: string, served: Contract[]): Promise<void> {
  const folder = path.join(directory, "contracts");
  for (const file of await readdir(folder)) if (file.endsWith(".json")) await rm(path.join(folder, file));
  for (const contract of served) {
    const text = JSON.stringify(contract, null, 2)
      // One line for each column, so that a diff reads well.
      .replaceAll(/\{[^{}[\]]*\}|\[[^{}[\]]*\]/g, (part) => part.replaceAll(/\n\s*/g, " "));
    await writeFile(path.join(folder, `${contract.schema}.json`), `${text}\n`);
  }
}

/** Compares contracts with what a database serves. */
export function compareContracts(contracts: Contract[], served: Contract[]): ContractChange[] {
  const lost = contracts.flatMap((contract): ContractChange[] => {
    const { schema } = contract;
    const now = served.find((one) => one.schema === schema);
    if (now !== undefined) return compareSchema(contract, now);
    return [{ schema, what: "the whole version was removed", breaks: consequences.schema }];
  });
  const added = served.filter(({ schema }) => !contracts.some((contract) => contract.schema === schema));
  return [...lost, ...added.map(({ schema }) => ({ schema, what: "the whole version was added" }))];
}

const consequences = {
  schema: "requests that name it would get 406",
  view: "requests for it would get 404",
  column: "requests that use it would get 400",
  retyped: "clients expect the promised type",
  function: "calls to it, and requests that embed with it, would fail or get a different response",
  overload: "calls that match both would get 300; choose another name",
  type: "a function's responses would lose fields",
  grant: "keys would see more or less than promised",
  order: "CSV columns follow this order; add new columns at the end",
};

/** One thing that a client can rely on. */
interface Fact {
  kind: keyof typeof consequences;
  /** The view, function or type that it is a part of. */
  of?: string | undefined;
  value: string;
}

function listFacts({ usage, views, functions, types }: Contract): Map<string, Fact> {
  const facts = new Map<string, Fact>();
  const addGrants = (name: string, roles: string[], of?: string) => {
    for (const role of roles) facts.set(`the grant of ${name} to ${role}`, { kind: "grant", value: "", of });
  };
  const addColumns = (of: string, columns: Column[]) => {
    for (const { name, type } of columns) facts.set(`${of}.${name}`, { kind: "column", of, value: type });
  };
  addGrants("the schema", usage);
  for (const [name, { select, columns }] of Object.entries(views)) {
    facts.set(name, { kind: "view", value: "" });
    addColumns(name, columns);
    addGrants(name, select, name);
  }
  for (const [signature, { execute, returns }] of Object.entries(functions)) {
    const name = `the function ${signature}`;
    facts.set(name, { kind: "function", value: returns });
    addGrants(name, execute, name);
  }
  for (const [type, columns] of Object.entries(types)) {
    facts.set(`the type ${type}`, { kind: "type", value: "" });
    addColumns(`the type ${type}`, columns);
  }
  return facts;
}

function compareSchema(contract: Contract, served: Contract): ContractChange[] {
  const { schema } = contract;
  const [before, after] = [listFacts(contract), listFacts(served)];
  const changes: ContractChange[] = [];
  for (const [what, { kind, of }] of new Map([...after, ...before])) {
    const [old, now] = [before.get(what)?.value, after.get(what)?.value];
    // An object that was added or removed is listed without its parts.
    const isPart = of !== undefined && !(before.has(of) && after.has(of));
    if (old === now || isPart) continue;
    const add = (is: string, breaks?: keyof typeof consequences) =>
      changes.push({ schema, what: `${what} ${is}`, ...(breaks && { breaks: consequences[breaks] }) });
    if (now === undefined) add("was removed", kind);
    else if (old !== undefined) add(`is “${now}” instead of “${old}”`, kind === "column" ? "retyped" : kind);
    else if (kind === "grant") add("was added", "grant");
    else add("was added", isOverload(what, [...before.keys()]) ? "overload" : undefined);
  }
  for (const [view, { columns }] of Object.entries(contract.views)) {
    const now = served.views[view]?.columns.map(({ name }) => name) ?? [];
    const kept = columns.map(({ name }) => name).filter((name) => now.includes(name));
    const what = `the order of columns in ${view} has changed`;
    if (kept.some((name, index) => now[index] !== name))
      changes.push({ schema, what, breaks: consequences.order });
  }
  return changes;
}

/** Whether two functions under /rpc share a name. Relationships, whose arguments have no names, do so on purpose. */
const isOverload = (what: string, others: string[]) =>
  /\(\)$|\(\w+ /.test(what) && others.some((other) => other.startsWith(what.replace(/\(.*/, "(")));

/** A change as part of a sentence. */
export function describeChange({ schema, what, breaks }: ContractChange): string {
  return `${schema}: ${what}${breaks === undefined ? "" : ` (${breaks})`}`;
}
