/** What the reference and the explorer need of the OpenAPI text of one version. */
export interface Description {
  title: string;
  description: string;
  tables: Table[];
  functions: ServedFunction[];
}

export interface Table {
  name: string;
  title: string;
  description: string;
  columns: Column[];
}

export interface Column {
  name: string;
  /** As PostgreSQL calls it. */
  type: string;
  description: string;
}

export interface ServedFunction {
  name: string;
  title: string;
  description: string;
  parameters: { name: string; type: string }[];
}

interface Property {
  format?: string;
  type?: string;
  description?: string;
}

interface OpenApi {
  info?: { title?: string; description?: string };
  definitions?: Record<string, { description?: string; properties?: Record<string, Property> }>;
  paths?: Record<
    string,
    {
      post?: {
        summary?: string;
        description?: string;
        parameters?: { name?: string; schema?: { properties?: Record<string, Property> } }[];
      };
    }
  >;
}

/** Reads the OpenAPI 2.0 text that PostgREST writes. The table that all others refer to comes first. */
export function readDescription(text: string): Description {
  const { info = {}, definitions = {}, paths = {} }: OpenApi = JSON.parse(text);
  const tables = Object.entries(definitions).map(([name, { description = "", properties = {} }]) => {
    const [title = "", ...rest] = description.split("\n");
    return {
      name,
      title,
      description: unwrap(rest.join("\n")),
      columns: Object.entries(properties).map(readColumn),
    };
  });
  const byName = (a: Table, b: Table) =>
    Number(b.name === "general") - Number(a.name === "general") || a.name.localeCompare(b.name);
  const functions = Object.entries(paths).flatMap(([path, { post }]) =>
    post === undefined || !path.startsWith("/rpc/")
      ? []
      : [
          {
            name: path.slice("/rpc/".length),
            title: post.summary ?? "",
            description: post.description ?? "",
            parameters: (post.parameters ?? []).flatMap(({ schema }) =>
              Object.entries(schema?.properties ?? {}).map(readColumn),
            ),
          },
        ],
  );
  return {
    title: info.title ?? "",
    description: info.description ?? "",
    tables: tables.sort(byName),
    functions,
  };
}

/** What PostgREST 14.8 and newer call PostgreSQL's integers. */
const formats: Record<string, string> = { int32: "integer", int64: "bigint" };

function readColumn([name, { format, type, description = "" }]: [string, Property]): Column {
  const known = format ?? type ?? "";
  return { name, type: formats[known] ?? known, description: unwrap(description) };
}

/** Joins lines that were broken for their length; an empty line stays a new paragraph. */
function unwrap(text: string): string {
  return text.trim().replace(/([^\n])\n(?=[^\n])/g, "$1 ");
}
