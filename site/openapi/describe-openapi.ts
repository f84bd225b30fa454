import { describeRateLimit, type RateLimits } from "../../service/read-rate-limits.ts";
import { describeFunction, describeRow, describeTable, fileAccessSchema, splitText } from "./api-paths.ts";
import { describeAppPaths, manifestSchema } from "./app-paths.ts";
import {
  away,
  errorSchema,
  headers,
  listHeaders,
  listResponses,
  parameters,
  responses,
} from "./components.ts";
import type { DescribedService } from "./read-service.ts";

/** Where clients reach the two parts of the service, with no slash at the end. */
export interface Addresses {
  apiUrl: string;
  appUrl: string;
  /** Who gives keys and answers questions: mailto: or https:. */
  contact?: string | undefined;
}

/**
 * Describes the whole service in OpenAPI 3.1: the tables of a version and its functions for keys with Tribal access,
 * behind the gateway, and the paths of the app.
 *
 * @param wanted the schema of a version; the oldest, which answers who names none, if there is none such
 */
export function describeOpenApi(
  { api, data_set: dataSet }: DescribedService,
  { apiUrl, appUrl, contact }: Addresses,
  limits: RateLimits,
  wanted?: string,
): object | undefined {
  const open = api.filter(({ schema }) => !schema.startsWith("admin_"));
  const version = open.find(({ schema }) => schema === wanted) ?? open[0];
  if (version === undefined) return undefined;
  const admin = api.find(({ schema }) => schema === `admin_${version.schema}`);
  const others = open.filter((other) => other !== version).map(({ schema }) => `?version=${schema}`);
  const { summary, description } = splitText(withoutDataSet(version.description ?? ""));
  return {
    openapi: "3.1.0",
    info: {
      title: summary,
      version: version.schema.replace(/^api_v/, "").replaceAll("_", "."),
      description: [
        description,
        dataSet === null ? "" : `Data set ${dataSet.id}.`,
        others.length === 0 ? "" : `Other versions: ${others.join(", ")}.`,
      ]
        .filter(Boolean)
        .join("\n\n"),
      license: { name: "CC0 1.0", identifier: "CC0-1.0" },
      ...(contact === undefined ? {} : { contact: describeContact(contact) }),
    },
    servers: [{ url: apiUrl, description: "The API" }],
    security: [{ key: [] }],
    tags: [
      { name: "tables", description: "Rows, as PostgREST serves them." },
      { name: "reports", description: "PDFs of reports." },
      { name: "files", description: "Whole tables as files." },
      { name: "service", description: "The service itself." },
    ],
    paths: {
      "/": describeRoot(),
      ...Object.fromEntries(version.tables.map((table) => [`/${table.name}`, describeTable(table, version)])),
      ...Object.fromEntries(
        (admin?.functions ?? []).map((served) => [
          `/rpc/${served.name}`,
          describeFunction(served, admin ?? version),
        ]),
      ),
      ...describeAppPaths(appUrl),
    },
    components: {
      securitySchemes: {
        key: { type: "apiKey", in: "header", name: "x-api-key", description: describeKeys(limits) },
      },
      schemas: {
        ...Object.fromEntries(version.tables.map((table) => [table.name, describeRow(table)])),
        file_access: fileAccessSchema,
        manifest: manifestSchema,
        error: errorSchema,
      },
      headers,
      parameters,
      responses,
    },
  };
}

function describeKeys(limits: RateLimits): string {
  return `DEMO_KEY (${describeRateLimit(limits, "demo")}), or a key of your own (${describeRateLimit(limits, "individual")}). Suppressed submissions and their reports require a key with Tribal access.`;
}

function describeContact(contact: string): object {
  return contact.startsWith("mailto:") ? { email: contact.slice("mailto:".length) } : { url: contact };
}

function describeRoot(): object {
  return {
    get: {
      operationId: "describe_tables",
      tags: ["service"],
      summary: "PostgREST's own description of the tables",
      responses: {
        200: {
          description: "Swagger 2.0.",
          headers: listHeaders("X-RateLimit-Remaining-Hour", "X-Request-Id"),
          content: { "application/openapi+json": { schema: { type: "object" } } },
        },
        ...listResponses({ 401: "unauthorized", 406: "notAcceptable", 429: "tooMany", ...away }),
      },
    },
  };
}

/** Publication writes the live data set into the comment (publication.describe_data_set()). */
function withoutDataSet(comment: string): string {
  return comment.replace(/\n\nData set [0-9a-f-]{36}, published \S+$/, "");
}
