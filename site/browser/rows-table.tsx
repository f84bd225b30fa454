import { Fragment, type VNode } from "preact";
import { useState } from "preact/hooks";
import type { Table } from "../api-description.ts";
import type { Query } from "../query.ts";
import { Scroll } from "../scroll.tsx";
import { chooseShown } from "../table-facts.ts";
import { formatShort } from "./format-value.ts";
import type { Row } from "./read-outcome.ts";

/** Rows, of which each opens as a card. Where all columns were asked for, the chief ones are shown at first. */
export function RowsTable({
  rows,
  table,
  query,
  open,
}: {
  rows: Row[];
  table: Table | undefined;
  query: Query;
  open: (index: number) => void;
}): VNode {
  const [isWhole, setIsWhole] = useState(false);
  const names = Object.keys(rows[0] ?? {});
  const own = names.filter((name) => !query.embeds.some((embed) => embed.table === name));
  const isChosen = query.columns.length > 0 || query.extra.includes("select=");
  const chief = isChosen ? own : chooseShown(query.table, own);
  const shown = isWhole ? names : [...chief, ...names.filter((name) => !own.includes(name))];
  return (
    <>
      {(isWhole || shown.length < names.length) && (
        <p class="actions">
          <span>
            {shown.length} of {names.length} columns are shown.
          </span>
          <button type="button" class="small plain" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? "Show the chief columns" : `Show all ${names.length} columns`}
          </button>
        </p>
      )}
      <Scroll label="Rows" kind="tall rows-place">
        <table class="rows-table">
          <caption class="visually-hidden">Rows of the answer</caption>
          <thead>
            <tr>
              {shown.map((name) => (
                <th
                  key={name}
                  scope="col"
                  class={typeof rows[0]?.[name] === "number" ? "number" : undefined}
                  title={table?.columns.find((column) => column.name === name)?.description}
                >
                  <BreakableName name={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {shown.map((name, place) =>
                  place === 0 ? (
                    <th key={name} scope="row" data-label={name}>
                      <button type="button" class="link" onClick={() => open(index)}>
                        <span class="visually-hidden">Open row {index + 1}: </span>
                        {formatShort(row[name])}
                      </button>
                    </th>
                  ) : (
                    <Cell key={name} name={name} value={row[name]} />
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

/** A column's name that a narrow column breaks between words. */
function BreakableName({ name }: { name: string }): VNode {
  return (
    <>
      {name.split("_").map((word, index) =>
        index === 0 ? (
          word
        ) : (
          <Fragment key={index}>
            _<wbr />
            {word}
          </Fragment>
        ),
      )}
    </>
  );
}

function Cell({ name, value }: { name: string; value: unknown }): VNode {
  const kind = value === null ? "null" : typeof value === "number" ? "number" : undefined;
  return (
    <td class={kind} data-label={name}>
      {formatShort(value)}
    </td>
  );
}
