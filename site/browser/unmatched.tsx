import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { alnName, listColumns, splitAlnTerms } from "../aln.ts";
import type { Table } from "../api-description.ts";
import { formatValue } from "../format-value.ts";
import { type Filter, largestLimit, listValues, type Query } from "../query.ts";
import { addJoined, findColumn } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import { type Outcome, readRows } from "./outcome.ts";
import type { Row } from "./rows.ts";
import type { Shown } from "./use-explorer.ts";

/** The most values that are named. */
const mostNamed = 20;

/** Says which values of each list match none of the rows. */
export function Unmatched({ explorer, outcome }: Shown): VNode {
  const { asked, table, rows = [] } = outcome;
  const lists = asked.query.filters.filter(
    ({ column, operator }) => operator === "in" && findColumn(table, column)?.type === "text",
  );
  return (
    <div aria-live="polite">
      {rows.length > 0 &&
        lists.map((filter, index) => (
          <UnmatchedValues key={index} explorer={explorer} outcome={outcome} filter={filter} />
        ))}
    </div>
  );
}

function UnmatchedValues({ explorer, outcome, filter }: Shown & { filter: Filter }): VNode | null {
  const [all, setAll] = useState(() => findAll(outcome, filter));
  useEffect(() => {
    const { asked, table, key, answer, total } = outcome;
    // If the rows do not fit in one response, some values remain unknown.
    if (all !== undefined || table === undefined || total > largestLimit) return;
    const target = writeTarget(addJoined(selectColumn(asked.query, filter, table), table));
    const headers = { "accept-profile": asked.schema, "if-match": answer.headers.etag ?? "*" };
    void explorer.askApi(target, { headers, key }).then((found) => setAll(readRows(found).rows));
  }, []);
  if (all === undefined || all.length === largestLimit) return null;
  const values = [...new Set(listValues(filter.value))];
  const unmatched = listUnmatched(values, filter, all);
  const { words } = findColumn(outcome.table, filter.column) ?? {};
  const named = unmatched.slice(0, mostNamed).map((value) => formatValue(filter.column, value, words));
  const more = unmatched.length - mostNamed;
  return unmatched.length === 0 ? (
    <p>All {values.length} values matched.</p>
  ) : (
    <p>
      {unmatched.length} of {values.length} values matched nothing: {named.join(", ")}
      {more > 0 && `, and ${more} more`}.
    </p>
  );
}

/** The name of a filter's column in rows, which have the columns of their report without its table. */
const nameInRows = ({ column }: Filter): string => column.replace(/^.*\./, "");

/** The rows of a response, if these are all rows and have the filter's column. */
function findAll({ asked, rows = [], total }: Outcome, filter: Filter): Row[] | undefined {
  const isAll = asked.query.offset === 0 && rows.length === total;
  return isAll && rows.every((row) => nameInRows(filter) in row) ? rows : undefined;
}

/** The same rows, with little more than a filter's column. */
function selectColumn(query: Query, { column }: Filter, table: Table): Query {
  const isOwn = listColumns(table).some(({ name }) => name === column);
  const select = isOwn ? splitAlnTerms(table.name, [column]) : ["report_id"];
  return { ...query, select, order: [], limit: largestLimit, offset: 0 };
}

/** An agency's two digits match each of its programs. */
function listUnmatched(values: string[], filter: Filter, rows: Row[]): string[] {
  const texts = rows.map((row) => String(row[nameInRows(filter)]));
  const matched = new Set(texts);
  if (filter.column === alnName) for (const text of texts) matched.add(text.split(".")[0] ?? "");
  return values.filter((value) => !matched.has(value));
}
