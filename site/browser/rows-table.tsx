import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { linkToExplorer } from "../example-request.ts";
import { kindOf } from "../query.ts";
import { chooseShown } from "../table-facts.ts";
import { formatCount } from "./ask.ts";
import { Scroll } from "./command.tsx";
import { formatValue, isMoney } from "./format-value.ts";
import type { Row } from "./outcome.ts";
import { findRow, isStub } from "./row-parts.ts";
import type { Shown } from "./use-explorer.ts";

const longestText = 120;

/** Rows, each with a link to itself. If all columns were asked for, the main ones are shown first. */
export function RowsTable({ explorer, outcome }: Shown): VNode {
  const { asked, table, rows = [] } = outcome;
  const { select } = asked.query;
  const [isWhole, setIsWhole] = useState(false);
  const names = Object.keys(rows[0] ?? {});
  const isColumn = (name: string) => table?.columns.some((column) => column.name === name);
  const isChosen = select.length > 0 && !select.includes("*");
  const main = isChosen ? names : chooseShown(asked.query.table, names);
  const shown = isWhole || isChosen ? names : [...main, ...names.filter((name) => !isColumn(name))];
  const isNumber = (name: string) => rows.some((row) => typeof row[name] === "number");
  const money = shown.filter((name) => isMoney(name) && isNumber(name));
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name] ?? 0), 0);
  return (
    <>
      <Scroll label="Rows" kind="rows-place">
        <table class="rows-table">
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
                  const link =
                    place === 0 && table && linkToExplorer(asked.schema, findRow(row, table), true);
                  return link ? (
                    <th key={name} scope="row">
                      <a href={link} aria-label={`Row ${index + 1}: ${text}`}>
                        {text}
                      </a>
                    </th>
                  ) : (
                    <td key={name} class={typeof row[name] === "number" ? "number" : undefined}>
                      {text}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
          {rows.length > 1 && money.length > 0 && (
            <tfoot>
              <tr>
                {shown.map((name, place) => (
                  <td key={name} class="number">
                    {place === 0 && `Sum of these ${formatCount(rows.length, "row")}`}
                    {money.includes(name) && formatValue(name, sum(name))}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
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

/** A heading sorts by its column: numbers and dates first from the largest, texts from A; then the other way. */
function Heading({ name, explorer, outcome: { asked, table } }: Shown & { name: string }): VNode {
  const column = table?.columns.find((each) => each.name === name);
  if (column === undefined) return <th scope="col">{name}</th>;
  const [sorted, direction] = (asked.query.order[0] ?? "").split(".");
  const isSorted = sorted === name;
  const isDescending = direction === "desc";
  const largestFirst = isSorted ? !isDescending : kindOf(column.type) !== "text";
  return (
    <th scope="col" aria-sort={isSorted ? (isDescending ? "descending" : "ascending") : undefined}>
      <button
        type="button"
        class="link"
        title={column.description}
        onClick={() => explorer.refine({ order: [largestFirst ? `${name}.desc.nullslast` : name] })}
      >
        {column.label}
      </button>
      <code class="hint">{name}</code>
    </th>
  );
}

/** Of a suppressed report nothing is shown, which is not the same as nothing being there. */
function formatCell(row: Row, name: string): string {
  if (isStub(row) && name !== "report_id" && name !== "is_public") return "not shown";
  const text = formatValue(name, row[name]);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
