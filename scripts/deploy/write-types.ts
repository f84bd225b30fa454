import path from "node:path";
import { type Contract, readContracts } from "./contract.ts";

/** Where the types of `db` are kept. */
export const typesFile = (directory: string) => path.join(directory, "contracts", "types.ts");

/**
 * The TypeScript types of each published version, as `@supabase/postgrest-js` takes them
 * (`new PostgrestClient<Database, …>(url)`).
 */
export async function describeTypes(directory: string): Promise<string> {
  const contracts = await readContracts(path.join(directory, "contracts"));
  return `// Written by npm run db:types from db/contracts. Do not edit.
//
// import { PostgrestClient } from "@supabase/postgrest-js";
// const api = new PostgrestClient<Database, { PostgrestVersion: "12" }, "api_v1_1_0">(baseUrl, {
//   headers: { "x-api-key": key }, schema: "api_v1_1_0",
// });

export interface Database {
${contracts.map(describeSchema).join("\n")}
}
`;
}

function describeSchema({ schema, views, functions, types }: Contract): string {
  return `  ${schema}: {
    Tables: Record<never, never>;
    Views: {
${Object.entries(views)
  .map(
    ([name, { columns }]) => `      ${name}: {
        Row: {
${describeColumns(columns, "          ", (column) => column !== "report_id")}
        };
        Relationships: [];
      };`,
  )
  .join("\n")}
    };
    Functions: {
${describeFunctions(schema, functions, views)}
    };
    Enums: Record<never, never>;
    CompositeTypes: {
${Object.entries(types)
  .map(
    ([name, columns]) => `      ${name}: {\n${describeColumns(columns, "        ", () => false)}\n      };`,
  )
  .join("\n")}
    };
  };`;
}

/** Every column but report_id is null somewhere: in the stub of a suppressed submission at least. */
function describeColumns(
  columns: { name: string; type: string }[],
  indent: string,
  isNullable: (name: string) => boolean,
): string {
  return columns
    .map(({ name, type }) => `${indent}${name}: ${describeType(type)}${isNullable(name) ? " | null" : ""};`)
    .join("\n");
}

function describeType(type: string): string {
  if (/^(TEXT|VARCHAR|CHARACTER|DATE|TIME|UUID|INTERVAL)/.test(type)) return "string";
  if (/^(SMALLINT|INTEGER|BIGINT|NUMERIC|REAL|DOUBLE)/.test(type)) return "number";
  if (type === "BOOLEAN") return "boolean";
  return "unknown";
}

/** Relationships take a row of a view; what is called by name takes named arguments. */
function describeFunctions(
  schema: string,
  functions: Contract["functions"],
  views: Contract["views"],
): string {
  const overloads = new Map<string, string[]>();
  for (const [signature, { returns }] of Object.entries(functions)) {
    const [, name = "", argument = ""] = /^(\w+)\((.*)\)$/.exec(signature) ?? [];
    const list = overloads.get(name) ?? [];
    overloads.set(name, list);
    const relation = new RegExp(`^${schema}\\.(\\w+)$`).exec(argument)?.[1];
    const [, to = ""] = new RegExp(`^(?:setof )?${schema}\\.(\\w+)`).exec(returns) ?? [];
    if (relation !== undefined) {
      list.push(`{
            Args: { "": Database["${schema}"]["Views"]["${relation}"]["Row"] };
            Returns: Database["${schema}"]["Views"]["${to}"]["Row"][];
            SetofOptions: { from: "${relation}"; to: "${to}"; isOneToOne: ${returns.includes("rows 1")}; isSetofReturn: true };
          }`);
    } else if (argument === "" || argument.includes(" ")) {
      const args = argument === "" ? [] : argument.split(/, (?=\w+ )/);
      const fields = args.map((one) => {
        const [, field = "", type = "", fallback] = /^(\w+) (.+?)( DEFAULT .*)?$/.exec(one) ?? [];
        return `${field}${fallback === undefined ? "" : "?"}: ${describeType(type.toUpperCase())}`;
      });
      list.push(`{
            Args: ${fields.length === 0 ? "Record<PropertyKey, never>" : `{ ${fields.join("; ")} }`};
            Returns: ${describeResult(schema, returns, (name) => name in views)};
          }`);
    }
  }
  return [...overloads]
    .map(([name, list]) => `      ${name}:\n        | ${list.join("\n        | ")};`)
    .join("\n");
}

/** What a function returns, as the contract has it: `setof api_v1_1_0.general stable`, `date stable`. */
function describeResult(schema: string, returns: string, isView: (name: string) => boolean): string {
  const [, isSet, type = ""] = /^(setof )?(.+?)(?: rows 1)? (?:stable|volatile)$/.exec(returns) ?? [];
  const name = new RegExp(`^${schema}\\.(\\w+)$`).exec(type)?.[1];
  const one =
    name === undefined
      ? describeType(type.toUpperCase())
      : isView(name)
        ? `Database["${schema}"]["Views"]["${name}"]["Row"]`
        : `Database["${schema}"]["CompositeTypes"]["${name}"]`;
  return isSet === undefined ? one : `${one}[]`;
}
