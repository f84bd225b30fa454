import { listHeaders, listParameters, listResponses } from "./components.ts";

const inPath = (name: string, description: string, schema: object) => ({
  name,
  in: "path",
  required: true,
  description,
  schema,
});
const redirect = { description: "A redirect to the PDF.", headers: listHeaders("Location", "X-Request-Id") };
const json = (schema: object) => ({ "application/json": { schema } });

/** The paths of the app, which need no key. */
export function describeAppPaths(appUrl: string): Record<string, object> {
  const paths: Record<string, object> = {
    "/dissemination/report/pdf/{report_id}": {
      operationId: "download_public_report",
      tags: ["reports"],
      summary: "The PDF of a public report",
      description: "A suppressed report is answered as one that does not exist. Limited by address.",
      parameters: [
        inPath("report_id", "The report.", { type: "string", examples: ["2023-06-GSAFAC-0000000001"] }),
      ],
      responses: { 302: redirect, ...listResponses({ 404: "notFound", 429: "tooMany", 503: "unavailable" }) },
    },
    "/dissemination/report/pdf/ota/{access_uuid}": {
      operationId: "download_report",
      tags: ["reports"],
      summary: "The PDF of a report, for a one-time token",
      description: "The token comes from request_file_access. It is spent exactly when a redirect is issued.",
      parameters: [inPath("access_uuid", "The token.", { type: "string", format: "uuid" })],
      responses: { 302: redirect, ...listResponses({ 404: "notFound", 503: "unavailable" }) },
    },
    "/public-data/manifest.json": {
      operationId: "list_files",
      tags: ["files"],
      summary:
        "The bulk files of the live data set, what their columns mean, and what publications have changed",
      parameters: listParameters("ifNoneMatch"),
      responses: {
        200: {
          description: "The manifest.",
          headers: listHeaders("ETag", "Data-Set"),
          content: json({ $ref: "#/components/schemas/manifest" }),
        },
        ...listResponses({ 304: "notModified", 404: "notFound", 503: "unavailable" }),
      },
    },
    "/public-data/{name}": {
      operationId: "download_file",
      tags: ["files"],
      summary: "A bulk file, or a part of it",
      parameters: [
        inPath("name", "As the manifest lists it.", { type: "string", examples: ["general.parquet"] }),
        ...listParameters("range", "ifMatch", "ifNoneMatch"),
      ],
      responses: {
        200: describeFile("The file."),
        206: describeFile("The part that Range names."),
        ...listResponses({
          304: "notModified",
          404: "notFound",
          412: "changed",
          416: "outside",
          503: "unavailable",
        }),
      },
    },
    "/{table}.csv": {
      operationId: "download_totals",
      tags: ["files"],
      summary: "All totals by state or by agency, as one file",
      parameters: [
        inPath("table", "As the API has it.", {
          type: "string",
          enum: ["totals_by_state", "totals_by_agency"],
        }),
        ...listParameters("ifNoneMatch"),
      ],
      responses: {
        200: {
          description: "The rows of the API's table of this name.",
          headers: listHeaders("ETag"),
          content: { "text/csv": { schema: { type: "string" } } },
        },
        ...listResponses({ 304: "notModified", 404: "notFound", 503: "unavailable" }),
      },
    },
    "/openapi.json": {
      operationId: "describe_service",
      tags: ["service"],
      summary: "This description",
      parameters: listParameters("ifNoneMatch"),
      responses: {
        200: { description: "OpenAPI 3.1.", headers: listHeaders("ETag"), content: json({ type: "object" }) },
        ...listResponses({ 304: "notModified", 404: "notFound", 503: "unavailable" }),
      },
    },
    "/readyz": {
      operationId: "check_readiness",
      tags: ["service"],
      summary: "Whether the app could redeem a token now",
      responses: {
        200: { description: "The state of each part.", content: json({ type: "object" }) },
        503: {
          description: "The state of each part, of which one is away.",
          content: json({ type: "object" }),
        },
        ...listResponses({ 404: "notFound" }),
      },
    },
  };
  return Object.fromEntries(
    Object.entries(paths).map(([path, get]) => [
      path,
      { servers: [{ url: appUrl, description: "The app" }], get: { security: [], ...get } },
    ]),
  );
}

function describeFile(description: string): object {
  const bytes = {};
  return {
    description,
    headers: listHeaders("ETag", "Data-Set", "Content-Range"),
    content: { "application/gzip": { schema: bytes }, "application/vnd.apache.parquet": { schema: bytes } },
  };
}

const file = { name: { type: "string" }, bytes: { type: "integer" }, sha256: { type: "string" } };
const count = { type: "integer" };

/** What manifest.json holds (scripts/refresh/public-manifest.ts). */
export const manifestSchema = {
  type: "object",
  required: ["data_set", "published_at", "files", "tables", "changes"],
  properties: {
    data_set: { type: "string", format: "uuid" },
    published_at: { type: "string", format: "date-time" },
    files: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "table", "audit_year", "format", "rows", "bytes", "sha256"],
        properties: {
          ...file,
          table: { type: "string" },
          audit_year: { type: ["string", "null"] },
          format: { enum: ["csv", "parquet"] },
          rows: count,
        },
      },
    },
    tables: {
      type: "array",
      items: {
        type: "object",
        description: "With a JSON Table Schema.",
        properties: { name: { type: "string" }, title: { type: "string" }, schema: { type: "object" } },
      },
    },
    changes: {
      type: "array",
      description: "The last publications and rollbacks, the newest last.",
      items: {
        type: "object",
        required: ["name", "from", "to", "published_at", "added", "changed", "removed"],
        properties: {
          ...file,
          from: { type: "string", format: "uuid" },
          to: { type: "string", format: "uuid" },
          published_at: { type: "string", format: "date-time" },
          added: count,
          changed: count,
          removed: count,
        },
      },
    },
  },
};
