import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { alnName, alnParts } from "../aln.ts";
import type { Table } from "../api-description.ts";
import { formatValue } from "../format-value.ts";
import { linkValue } from "../link-total.ts";
import { kindOf } from "../query.ts";
import { chooseShown, findColumn } from "../table-facts.ts";
import { Scroll } from "./command.tsx";
import { isHidden, linkRow, type Row } from "./rows.ts";
import type { Shown } from "./use-explorer.ts";

const longestText = 120;

/** Rows, each with a link to its report. If all columns were selected, only the main and filtered ones show at first. */
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
                  const text = formatCell(row, name, table);
                  const link = place === 0 ? linkRow(asked.schema, row) : undefined;
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
                      <Cell text={text} link={linkValue(asked.schema, asked.query.table, row, name)} />
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

/** A value. If it counts rows, it is a link. If it is long, only its beginning shows until a visitor opens it. */
function Cell({ text, link }: { text: string; link: string | undefined }): ComponentChildren {
  if (link !== undefined) return <a href={link}>{text}</a>;
  if (text.length <= longestText) return text;
  return (
    <details>
      <summary>{text.slice(0, longestText)}…</summary>
      {text}
    </details>
  );
}

/** A suppressed report's values are hidden, which differs from being empty. */
const formatCell = (row: Row, name: string, table: Table | undefined): string =>
  isHidden(row, name) ? "suppressed" : formatValue(name, row[name], findColumn(table, name)?.words);
