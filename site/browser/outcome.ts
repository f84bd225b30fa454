import { joinAln } from "../aln.ts";
import type { Table, VersionDescription } from "../api-description.ts";
import { normalizeQuery } from "../normalize-query.ts";
import { largestLimit, type Query } from "../query.ts";
import { readTarget } from "../read-target.ts";
import { addJoined } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import { type Answer, isGood } from "./ask.ts";
import { embedCounts, isStub, type Row } from "./rows.ts";

/** A query, the version that it is sent to, and how its rows are shown. */
export interface Asked {
  /** Empty for the default version. */
  schema: string;
  query: Query;
  /** A report in full, with the number of its rows in other tables. */
  isRow: boolean;
}

/** A query, and the request that is sent for it. */
export interface Written {
  /** With normalized values. */
  asked: Asked;
  /** Undefined if the version has no such table. */
  table: Table | undefined;
  /** The path and query string. */
  target: string;
  /** The same for all rows, or as many as one response may have. */
  targetOfAll: string;
}

/** The result of a query. */
export interface Outcome extends Written {
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
  const rows: Row[] | undefined = isGood(answer) ? JSON.parse(answer.text) : undefined;
  return { rows: rows?.map(joinAln), total: Number(total) };
}

/** Whether another key may show more: the response is a refusal of the key, or has only suppressed reports. */
export const needsKey = ({ answer, asked, rows = [] }: Outcome): boolean =>
  answer.status === 401 || answer.status === 429 || hasOnlyStubs(asked.isRow ? rows.slice(0, 1) : rows);

const hasOnlyStubs = (rows: Row[]): boolean => rows.length > 0 && rows.every(isStub);

export function findTable(versions: VersionDescription[], schema: string, name: string): Table | undefined {
  return versions.find((version) => version.schema === schema)?.tables.find((table) => table.name === name);
}

/** Writes the request for a query, with columns of other tables, or for a report in full. */
export function writeRequest(
  versions: VersionDescription[],
  { schema, query: typed, ...asked }: Asked,
): Written {
  const table = findTable(versions, schema, typed.table);
  const query = normalizeQuery(typed, table);
  const isRow = asked.isRow && typed.table === "general";
  const sent = isRow ? embedCounts(query, table) : addJoined(query, table);
  return {
    asked: { schema, query, isRow },
    table,
    target: writeTarget(sent),
    targetOfAll: writeTarget({ ...sent, limit: largestLimit, offset: 0 }),
  };
}
