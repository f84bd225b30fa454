import type { Table } from "./api-description.ts";
import { emptyQuery, type Query } from "./query.ts";
import type { ApiRequest } from "./request-snippets.ts";
import { writeTarget } from "./write-target.ts";

/** The first columns of a table, five rows in a stable order: what the reference shows of each table. */
export function chooseExample(table: Pick<Table, "name" | "columns" | "key">): Query {
  const names = table.columns.map(({ name }) => name);
  const order = table.key.length > 0 ? table.key : ["report_id"];
  return { ...emptyQuery, table: table.name, select: names.slice(0, 5), order, limit: 5 };
}

/** A query as a request to one version of the API. */
export function describeRequest(
  { apiUrl, schema }: { apiUrl: string; schema: string },
  target: string,
  key: ApiRequest["key"] = "demonstration",
): ApiRequest {
  return { url: apiUrl + target, headers: { "accept-profile": schema }, key };
}

/**
 * Where the explorer shows a query: its rows as a table, or each row in full with what belongs to it. Never holds a key.
 */
export function linkToExplorer(schema: string, query: Query, isRow = false): string {
  return `/explorer#${schema}${isRow ? "/row" : ""}${writeTarget(query)}`;
}
