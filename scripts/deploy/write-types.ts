import path from "node:path";
import type { Contract } from "./contract.ts";

/** Where a `db` directory keeps its types for clients. */
export const typesFile = (directory: string) => path.join(directory, "contracts", "types.ts");

/**
 * The TypeScript types of each version, as `@supabase/postgrest-js` takes them
 * (`new PostgrestClient<Database, …>(url)`).
 */
export function describeTypes(contracts: Contract[]): string {
  return `// Written by npm run db:check -- --write. Do not edit.
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
  const rows = Object.entries(views).map(
    ([name, { columns }]) => `      ${name}: {
        Row: {
${columns
  // Every column but report_id is null somewhere, at least for a suppressed submission.
  .map(
    (column) =>
      `          ${column.name}: ${describeType(column.type)}${column.name === "report_id" ? "" : " | null"};`,
  )
  .join("\n")}
        };
        Relationships: [];
      };`,
  );
  const composites = Object.entries(types).map(
    ([name, columns]) =>
      `      ${name}: {\n${columns.map((column) => `        ${column.name}: ${describeType(column.type)};`).join("\n")}\n      };`,
  );
  const overloads = new Map<string, string[]>();
  for (const [signature, { returns }] of Object.entries(functions)) {
    const [, name = "", args = ""] = /^(\w+)\((.*)\)$/.exec(signature) ?? [];
    const described = describeFunction(schema, args, returns, (one) => one in views);
    if (described !== undefined) overloads.set(name, [...(overloads.get(name) ?? []), described]);
  }
  return `  ${schema}: {
    Tables: Record<never, never>;
    Views: {
${rows.join("\n")}
    };
    Functions: {
${[...overloads].map(([name, list]) => `      ${name}:\n        | ${list.join("\n        | ")};`).join("\n")}
    };
    Enums: Record<never, never>;
    CompositeTypes: {
${composites.join("\n")}
    };
  };`;
}

function describeType(type: string): string {
  if (/^(TEXT|VARCHAR|CHARACTER|DATE|TIME|UUID|INTERVAL)/i.test(type)) return "string";
  if (/^(SMALLINT|INTEGER|BIGINT|NUMERIC|REAL|DOUBLE)/i.test(type)) return "number";
  return /^BOOLEAN$/i.test(type) ? "boolean" : "unknown";
}

/** Relationships take a row of a view. What is called by name takes named arguments; nothing else is described. */
function describeFunction(
  schema: string,
  args: string,
  returns: string,
  isView: (name: string) => boolean,
): string | undefined {
  const [, isSet, type = "", isOne] = /^(setof )?(.+?)( rows 1)? (?:stable|volatile)$/.exec(returns) ?? [];
  const nameIn = (text: string) =>
    text.startsWith(`${schema}.`) ? text.slice(schema.length + 1) : undefined;
  const row = (name: string) => `Database["${schema}"]["Views"]["${name}"]["Row"]`;
  const [from, to] = [nameIn(args), nameIn(type)];
  if (from !== undefined && to !== undefined) {
    return `{
            Args: { "": ${row(from)} };
            Returns: ${row(to)}[];
            SetofOptions: { from: "${from}"; to: "${to}"; isOneToOne: ${isOne !== undefined}; isSetofReturn: true };
          }`;
  }
  if (args !== "" && !args.includes(" ")) return undefined;
  const fields = (args === "" ? [] : args.split(/, (?=\w+ )/)).map((one) => {
    const [, field = "", argument = "", fallback] = /^(\w+) (.+?)( DEFAULT .*)?$/.exec(one) ?? [];
    return `${field}${fallback === undefined ? "" : "?"}: ${describeType(argument)}`;
  });
  const composite = `Database["${schema}"]["CompositeTypes"]["${to}"]`;
  const result = to === undefined ? describeType(type) : isView(to) ? row(to) : composite;
  return `{
            Args: ${fields.length === 0 ? "Record<PropertyKey, never>" : `{ ${fields.join("; ")} }`};
            Returns: ${result}${isSet === undefined ? "" : "[]"};
          }`;
}
