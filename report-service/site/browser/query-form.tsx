import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Query } from "../query.ts";
import { NameSelect } from "./editable-rows.tsx";
import { FilterRows } from "./filter-rows.tsx";
import { OrderRows } from "./order-rows.tsx";
import type { Column, Table } from "./read-description.ts";

export interface QueryFormProps {
  versions: string[];
  schema: string;
  tables: Table[];
  query: Query;
  change: (changed: Partial<Query>, schema?: string) => void;
  isCounted: boolean;
  setIsCounted: (isCounted: boolean) => void;
}

/** Version, table, columns, filters, order and page of a request. */
export function QueryForm({
  versions,
  schema,
  tables,
  query,
  change,
  isCounted,
  setIsCounted,
}: QueryFormProps): VNode {
  const table = tables.find(({ name }) => name === query.table);
  const columns = table?.columns ?? [];
  return (
    <>
      <fieldset>
        <legend>Table</legend>
        <div class="row">
          <NameSelect
            id="schema"
            label="Version"
            names={versions}
            value={schema}
            change={(name) => change({}, name)}
          />
          <NameSelect
            id="table"
            label="Table"
            names={tables.map(({ name }) => name)}
            value={query.table}
            change={(name) => change({ table: name, columns: [], filters: [], order: [] })}
          />
        </div>
        {table !== undefined && <span class="hint">{table.title}</span>}
        {table === undefined && (
          <p class="notice">
            This version has no table <code>{query.table}</code>.
          </p>
        )}
      </fieldset>
      <ColumnChecks key={query.table} columns={columns} query={query} change={change} />
      <FilterRows columns={columns} filters={query.filters} change={(filters) => change({ filters })} />
      <OrderRows columns={columns} order={query.order} change={(order) => change({ order })} />
      <fieldset>
        <legend>Page</legend>
        <div class="row">
          <NumberField
            id="limit"
            label="Rows a page"
            value={query.limit}
            min={1}
            max={20_000}
            change={(limit) => change({ limit })}
          />
          <NumberField
            id="offset"
            label="Rows to skip"
            value={query.offset}
            min={0}
            max={999_999_999}
            change={(offset) => change({ offset })}
          />
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={isCounted}
            onChange={(event) => setIsCounted(event.currentTarget.checked)}
          />
          <span>
            Count all rows (<code>Prefer: count=exact</code>), which takes longer
          </span>
        </label>
      </fieldset>
    </>
  );
}

function ColumnChecks({
  columns,
  query,
  change,
}: {
  columns: Column[];
  query: Query;
  change: QueryFormProps["change"];
}): VNode {
  const [part, setPart] = useState("");
  const chosen = new Set(query.columns);
  const toggle = (name: string, isChosen: boolean) => {
    if (isChosen) chosen.add(name);
    else chosen.delete(name);
    // In the table's order; names that the table does not have come from a link, and stay for its answer to tell.
    const known = columns.map((column) => column.name);
    change({
      columns: [
        ...known.filter((each) => chosen.has(each)),
        ...[...chosen].filter((each) => !known.includes(each)),
      ],
    });
  };
  const shown = columns.filter(({ name }) => name.includes(part.trim().toLowerCase()));
  return (
    <fieldset>
      <legend>Columns</legend>
      <details open={query.columns.length > 0}>
        <summary>
          {query.columns.length === 0
            ? "All columns"
            : `${query.columns.length} of ${columns.length} columns`}
        </summary>
        <div class="field">
          <label for="column-part">Find a column</label>
          <input
            id="column-part"
            type="search"
            autocomplete="off"
            value={part}
            onInput={(event) => setPart(event.currentTarget.value)}
          />
        </div>
        <div class="checks">
          {shown.map(({ name }) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={chosen.has(name)}
                onChange={(event) => toggle(name, event.currentTarget.checked)}
              />
              <code>{name}</code>
            </label>
          ))}
          {shown.length === 0 && <span class="hint">No column has this in its name.</span>}
        </div>
        <button
          type="button"
          class="small plain"
          disabled={query.columns.length === 0}
          onClick={() => change({ columns: [] })}
        >
          All columns
        </button>
      </details>
    </fieldset>
  );
}

function NumberField({
  id,
  label,
  value,
  min,
  max,
  change,
}: {
  id: string;
  label: string;
  value: number;
  min: number;
  max: number;
  change: (value: number) => void;
}): VNode {
  return (
    <div class="field field--short">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        required
        min={min}
        max={max}
        value={value}
        onInput={(event) => {
          const { valueAsNumber } = event.currentTarget;
          if (Number.isInteger(valueAsNumber) && valueAsNumber >= min && valueAsNumber <= max) {
            change(valueAsNumber);
          }
        }}
      />
    </div>
  );
}
