import { away, listHeaders, listParameters, listResponses } from "./components.ts";
import type { DescribedTable, DescribedVersion } from "./read-service.ts";

const answerHeaders = [
  "ETag",
  "Data-Set",
  "X-RateLimit-Limit-Hour",
  "X-RateLimit-Remaining-Hour",
  "RateLimit-Reset",
  "X-Request-Id",
  "Deprecation",
  "Sunset",
  "Link",
] as const;

/** PostgREST has it so: the first line of a comment is a title. */
export function splitText(comment: string): { summary: string; description: string } {
  const [summary = "", ...rest] = comment.split("\n");
  return { summary, description: rest.join("\n").trim() };
}

/** The schema of a table's rows. A request may leave columns out, by `select`. */
export function describeRow({ description, columns }: DescribedTable): object {
  return {
    type: "object",
    description: splitText(description).summary,
    properties: Object.fromEntries(
      columns.map(({ name, type, description: text }) => [
        name,
        { ...describeType(type), description: text },
      ]),
    ),
  };
}

function describeType(type: string): object {
  const [, length] = /^character varying\((\d+)\)$/.exec(type) ?? [];
  if (length !== undefined) return { type: ["string", "null"], maxLength: Number(length) };
  return types[type] ?? {};
}

const types: Record<string, object> = {
  text: { type: ["string", "null"] },
  "character varying": { type: ["string", "null"] },
  bigint: { type: ["integer", "null"], format: "int64" },
  integer: { type: ["integer", "null"], format: "int32" },
  numeric: { type: ["number", "null"] },
  boolean: { type: ["boolean", "null"] },
  date: { type: ["string", "null"], format: "date" },
};

/** A table: `GET /<table>`, with a filter for each column. */
export function describeTable(table: DescribedTable, { schema }: DescribedVersion): object {
  const rows = { type: "array", items: { $ref: `#/components/schemas/${table.name}` } };
  const found = (description: string) => ({
    description,
    headers: listHeaders("Content-Range", ...answerHeaders),
    content: { "application/json": { schema: rows }, "text/csv": { schema: { type: "string" } } },
  });
  const { summary, description } = splitText(table.description);
  const embeds = table.embeds.length === 0 ? "" : `\n\nMay embed: ${table.embeds.join(", ")}.`;
  return {
    get: {
      operationId: `read_${table.name}`,
      tags: ["tables"],
      summary,
      description: `${description}${embeds}`.trim(),
      parameters: [
        ...listParameters(
          "select",
          "order",
          "limit",
          "offset",
          "or",
          "and",
          "prefer",
          "ifMatch",
          "ifNoneMatch",
        ),
        describeProfile("Accept-Profile", schema, false),
        ...table.columns.map(({ name, description: text }) => ({
          name,
          in: "query",
          description: `An operator and a value, such as eq.… or in.(…). ${text}`,
          schema: { type: "string" },
        })),
      ],
      responses: {
        200: found("The rows."),
        206: found("The rows, of more that were counted."),
        ...listResponses({
          304: "notModified",
          400: "badRequest",
          401: "unauthorized",
          404: "notFound",
          406: "notAcceptable",
          412: "changed",
          416: "outside",
          429: "tooMany",
          500: "failed",
          ...away,
        }),
      },
    },
  };
}

/** A function of the version for keys with Tribal access: `POST /rpc/<function>`. */
export function describeFunction(
  { name, description: comment, parameters }: DescribedVersion["functions"][number],
  { schema }: DescribedVersion,
): object {
  return {
    post: {
      operationId: name,
      tags: ["reports"],
      ...splitText(comment),
      parameters: [describeProfile("Content-Profile", schema, true)],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: parameters.map((parameter) => parameter.name),
              properties: Object.fromEntries(
                parameters.map((parameter) => [parameter.name, { type: "string" }]),
              ),
            },
          },
        },
      },
      responses: {
        200: {
          description: "What it returns.",
          headers: listHeaders("X-RateLimit-Remaining-Hour", "X-Request-Id"),
          content: { "application/json": { schema: { $ref: "#/components/schemas/file_access" } } },
        },
        ...listResponses({
          400: "badRequest",
          401: "unauthorized",
          404: "notFound",
          406: "notAcceptable",
          429: "tooMany",
          500: "failed",
          ...away,
        }),
      },
    },
  };
}

/** What request_file_access returns. */
export const fileAccessSchema = {
  type: "object",
  required: ["access_uuid", "expires_at"],
  properties: {
    access_uuid: { type: "string", format: "uuid" },
    expires_at: { type: "string", format: "date-time" },
  },
};

function describeProfile(name: string, schema: string, required: boolean): object {
  const description = required
    ? "The version."
    : "The version; without it, the oldest that is served answers.";
  return { name, in: "header", required, description, schema: { const: schema } };
}
