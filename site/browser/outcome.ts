import type { Table } from "../api-description.ts";
import type { Query } from "../query.ts";
import { readTarget } from "../read-target.ts";
import { type Answer, isGood } from "./ask.ts";

/** A query, the version that it is sent to, and how its rows are shown. */
export interface Asked {
  /** Empty for the default version. */
  schema: string;
  query: Query;
  /** Each row in full, with related rows. */
  isRow: boolean;
}

export type Row = Record<string, unknown>;

/** The result of a query. */
export interface Outcome {
  asked: Asked;
  /** Undefined if the version has no such table. */
  table: Table | undefined;
  /** The path and query string that were sent. */
  target: string;
  key: string;
  answer: Answer;
  /** Undefined if the response is an error. */
  rows: Row[] | undefined;
  /** How many rows match; an estimate if there are more than fit in one response. */
  total: number;
}

/** Reads the request in the URL's fragment; undefined if there is none. */
export function readAddress(hash: string): Asked | undefined {
  const [, schema = "", row, target] = /^#([a-z0-9_]*)(\/row)?(\/[a-z0-9_]+(?:\?.*)?)$/s.exec(hash) ?? [];
  return target === undefined ? undefined : { schema, query: readTarget(target), isRow: row !== undefined };
}

/** Reads the rows of a response, and their number from Content-Range. */
export function readRows(answer: Answer): Pick<Outcome, "rows" | "total"> {
  const [, total = "0"] = /\/(\d+)$/.exec(answer.headers["content-range"] ?? "") ?? [];
  return { rows: isGood(answer) ? JSON.parse(answer.text) : undefined, total: Number(total) };
}
