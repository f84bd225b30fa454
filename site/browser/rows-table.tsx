import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { alnName, alnParts } from "../aln.ts";
import type { Table } from "../api-description.ts";
import { formatValue } from "../format-value.ts";
import { linkValue } from "../link-total.ts";
import { kindOf } from "../query.ts";
import { chooseShown, findColumn } from "../table-facts.ts";
import { linkToExplorer } from "../write-target.ts";
import { Scroll } from "./command.tsx";
import { findRow, isHidden, type Row } from "./row-parts.ts";
import { Counted } from "./row-values.tsx";
import type { Shown } from "./use-explorer.ts";

const longestText = 120;

/** Rows, each with a link to itself. If all columns were selected, only the main and filtered ones show at first. */
export function RowsTable({ explorer, outcome }: Shown): VNode {
  const { asked, table, rows = [] } = outcome;
  const { select } = asked.query;
  const [isWhole, setIsWhole] = useState(false);
  const names = Object.keys(rows[0] ?? {});
  const isAll = select.length === 0 || select.includes("*");
  const isMain = (name: string) =>
    !table?.columns.some((column) => column.name === name) ||
    asked.query.filters.some(({ column }) => column === name);
  const main = new Set([...chooseShown(asked.query.table, names), ...names.filter(isMain)]);
  const shown = isWhole || !isAll ? names : [...main];
  const labelOf = (name: string) => findColumn(table, name)?.label ?? name;
  return (
    <>
      <Scroll label="Rows" kind="rows-place">
        <table class="rows-table stacked">
          <caption class="visually-hidden">Rows</caption>
          <thead>
            <tr>
              {shown.map((name) => (
                <Heading key={name} name={name} explorer={explorer} outcome={outcome} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {shown.map((name, place) => {
                  const text = formatCell(row, name);
                  const found = place === 0 && table && findRow(row, table);
                  const link = found && linkToExplorer(asked.schema, found, true);
                  return link ? (
                    <th key={name} scope="row">
                      <a href={link} aria-label={`Row ${index + 1}: ${text}`}>
                        {text}
                      </a>
                    </th>
                  ) : (
                    <td
                      key={name}
                      class={typeof row[name] === "number" ? "number" : undefined}
                      data-label={labelOf(name)}
                    >
                      <Counted text={text} link={linkValue(asked.schema, asked.query.table, row, name)} />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {(isWhole || shown.length < names.length) && (
        <button type="button" class="plain" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? "Show the main columns" : `Show all ${names.length} columns`}
        </button>
      )}
    </>
  );
}

/**
 * A heading sorts by its column: numbers and dates from the largest, texts from A. The next click reverses that. Columns of
 * other tables and narratives are not sorted.
 */
function Heading({ name, explorer, outcome: { asked, table } }: Shown & { name: string }): VNode {
  const column = findColumn(table, name);
  if (column === undefined) return <th scope="col">{name}</th>;
  const sorting = listSorting(table, name);
  const [sorted, direction] = (asked.query.order[0] ?? "").split(".");
  const isSorted = sorted !== undefined && sorted === sorting[0];
  const isDescending = direction === "desc";
  const largestFirst = isSorted ? !isDescending : kindOf(column.type) !== "text";
  const order = sorting.map((each) => (largestFirst ? `${each}.desc.nullslast` : each));
  return (
    <th scope="col" aria-sort={isSorted ? (isDescending ? "descending" : "ascending") : undefined}>
      {sorting.length === 0 ? (
        <span title={column.description}>{column.label} </span>
      ) : (
        <button
          type="button"
          class="link"
          title={column.description}
          onClick={() => explorer.refine({ order })}
        >
          {column.label}
        </button>
      )}
      <code class="hint">{name}</code>
    </th>
  );
}

/** The table's own columns that a heading sorts by. */
function listSorting(table: Table | undefined, name: string): readonly string[] {
  if (table === undefined) return [];
  const isOwn = (each: string) => table.columns.some((column) => column.name === each);
  if (isOwn(name)) return [name];
  return name === alnName && alnParts.every(isOwn) ? alnParts : [];
}

/** A suppressed report's values are hidden, which differs from being empty. */
function formatCell(row: Row, name: string): string {
  if (isHidden(row, name)) return "suppressed";
  const text = formatValue(name, row[name]);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
