import { readFileSync } from "node:fs";
import { parse } from "yaml";
import {
  describeRateLimit,
  describeRequestsAtATime,
  type RateLimits,
} from "../../shared/read-rate-limits.ts";
import {
  type Column,
  listCalls,
  type ServedFunction,
  type Table,
  type VersionDescription,
} from "../api-description.ts";
import { isAdmin } from "../client-settings.ts";
import type { SiteConfig } from "../config.ts";
import type { ServiceFacts } from "../service-facts.ts";

const { appPaths, components, ...document } = parse(
  readFileSync(new URL("./service.yaml", import.meta.url), "utf8"),
);
const { errors: described, ...shared } = components;
/** What happened and what to do, by HTTP status. */
export const errors: Readonly<Record<string, string>> = described;

/**
 * Describes the whole service in OpenAPI 3.1: a version's tables and functions, and the app's paths. Returns undefined if no
 * version is deployed.
 *
 * @param wanted a version's schema. If there is no such version, describes the oldest, which is the default
 */
export function describeOpenApi(
  { api, data_set: dataSet }: ServiceFacts,
  { apiUrl, appUrl, contact }: SiteConfig & { appUrl: string },
  limits: RateLimits,
  wanted: unknown,
): object | undefined {
  const open = api.filter((each) => !isAdmin(each));
  const version = open.find(({ schema }) => schema === wanted) ?? open[0];
  if (version === undefined) return undefined;
  const { schema, title, description, tables } = version;
  const others = open.filter((each) => each !== version).map((each) => `?version=${each.schema}`);
  const texts = [
    description,
    dataSet && `Data set ${dataSet.id}.`,
    others.length > 0 && `Other versions: ${others.join(", ")}.`,
  ];
  const keyText = `DEMO_KEY (${describeRateLimit(limits, "demo")}), or your own key (${describeRateLimit(limits, "individual")}). Suppressed reports and their PDFs require a key with Tribal access. ${describeRequestsAtATime(limits)}`;
  return {
    openapi: "3.1.0",
    info: {
      title,
      version: schema.replace(/^api_v/, "").replaceAll("_", "."),
      description: texts.filter(Boolean).join("\n\n"),
      license: { name: "CC0 1.0", identifier: "CC0-1.0" },
      ...(contact && {
        contact: contact.startsWith("mailto:") ? { email: contact.slice(7) } : { url: contact },
      }),
    },
    servers: [{ url: apiUrl, description: "The API" }],
    ...document,
    paths: {
      ...Object.fromEntries(tables.map((table) => [`/${table.name}`, { get: describeRead(table, version) }])),
      ...Object.fromEntries(
        listCalls(version).map((served) => [`/rpc/${served.name}`, { post: describeCall(served, version) }]),
      ),
      ...mapValues(appPaths, (get: Operation) => ({
        servers: [{ url: appUrl, description: "The app" }],
        get: { security: [], ...addResponses(get) },
      })),
    },
    components: {
      ...shared,
      securitySchemes: { key: { type: "apiKey", in: "header", name: "x-api-key", description: keyText } },
      schemas: {
        ...Object.fromEntries(tables.map((table) => [table.name, describeRow(table)])),
        ...shared.schemas,
      },
      responses: { ...shared.responses, ...mapValues(errors, describeError) },
    },
  };
}

const mapValues = <Value, Result>(values: Record<string, Value>, make: (value: Value) => Result) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));

const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const listHeaders = (names: string[]) =>
  Object.fromEntries(names.map((name) => [name, refer("headers", name)]));

const describeError = (description: string) => ({
  description,
  headers: listHeaders(["X-Request-Id", ...(description.includes("Retry-After") ? ["Retry-After"] : [])]),
  content: { "application/json": { schema: refer("schemas", "error") } },
});

/** The schema of a table's rows. No column is required, because `select` may leave it out. */
function describeRow({ title, columns, required_columns }: Table): object {
  const describeColumn = ({ name, label, type, description }: Column) =>
    [name, { title: label, ...describeType(type, !required_columns.includes(name)), description }] as const;
  return { type: "object", description: title, properties: Object.fromEntries(columns.map(describeColumn)) };
}

const types: Record<string, { type: string; format?: string; items?: { type: string } }> = {
  bigint: { type: "integer", format: "int64" },
  integer: { type: "integer", format: "int32" },
  numeric: { type: "number" },
  boolean: { type: "boolean" },
  date: { type: "string", format: "date" },
  text: { type: "string" },
  "text[]": { type: "array", items: { type: "string" } },
  "character varying": { type: "string" },
};

function describeType(type: string, isNullable: boolean): object {
  const [, name = type, length] = /^(character varying)\((\d+)\)$/.exec(type) ?? [];
  const { type: jsonType, ...rest } = types[name] ?? {};
  if (jsonType === undefined) return {};
  return {
    type: isNullable ? [jsonType, "null"] : jsonType,
    ...rest,
    ...(length !== undefined && { maxLength: Number(length) }),
  };
}

const profile = (name: string, schema: string) => ({
  name,
  in: "header",
  description: "The version; by default, the lowest-numbered one.",
  schema: { const: schema },
});

const commonErrors = [400, 401, 404, 406, 429, 500, 503, 504];

interface Operation extends Record<string, unknown> {
  answers: number[];
  responses?: object;
}

function addResponses({ answers, responses, ...operation }: Operation): object {
  const shared = answers.map((status) => [status, refer("responses", String(status))]);
  return { ...operation, responses: { ...responses, ...Object.fromEntries(shared) } };
}

const rateHeaders = [
  "X-RateLimit-Limit-Hour",
  "X-RateLimit-Remaining-Hour",
  "RateLimit-Reset",
  "X-Request-Id",
];
const rowHeaders = ["Content-Range", "ETag", "Data-Set", ...rateHeaders, "Deprecation", "Sunset", "Link"];

/** `GET /<table>`, with a filter for each column. */
function describeRead(
  { name, title, description, columns, embeds }: Table,
  { schema }: VersionDescription,
): object {
  const rows = {
    description: "The rows. The status is 206 if you asked for a count and there are more rows.",
    headers: listHeaders(rowHeaders),
    content: {
      "application/json": { schema: { type: "array", items: refer("schemas", name) } },
      "text/csv": { schema: { type: "string" } },
    },
  };
  const embedded = embeds.length === 0 ? "" : `\n\nCan embed: ${embeds.join(", ")}.`;
  const shownParameters = Object.keys(shared.parameters).filter((name) => !["range", "table"].includes(name));
  return addResponses({
    operationId: `read_${name}`,
    summary: title,
    description: `${description}${embedded}`.trim(),
    parameters: [
      ...shownParameters.map((parameter) => refer("parameters", parameter)),
      profile("Accept-Profile", schema),
      ...columns.map((column) => ({
        name: column.name,
        in: "query",
        description: `An operator and a value, such as eq.… or in.(…). ${column.description}`,
        schema: { type: "string" },
      })),
    ],
    responses: { 200: rows, 206: rows },
    answers: [304, ...commonErrors, 412, 416],
  });
}

/** `POST /rpc/<function>`. */
function describeCall(
  { name, title, description, parameters }: ServedFunction,
  { schema }: VersionDescription,
) {
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter.name, { type: "string" }]));
  const body = { type: "object", required: Object.keys(properties), properties };
  return addResponses({
    operationId: name,
    summary: title,
    description,
    parameters: [profile("Content-Profile", schema)],
    requestBody: { required: true, content: { "application/json": { schema: body } } },
    responses: {
      200: {
        description: "A one-time token.",
        headers: listHeaders(rateHeaders),
        content: { "application/json": { schema: refer("schemas", "file_access") } },
      },
    },
    answers: commonErrors,
  });
}
