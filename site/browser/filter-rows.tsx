import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { type Filter, kindOf, listOperators, needsNoValue, type Operator, operators } from "../query.ts";
import type { Column } from "./read-description.ts";

/** The filters of a query: column, operator by the column's type, value. All of them have to hold. */
export function FilterRows({
  columns,
  filters,
  change,
}: {
  columns: Column[];
  filters: Filter[];
  change: (filters: Filter[]) => void;
}): VNode {
  const add = useRef<HTMLButtonElement>(null);
  const replace = (index: number, changed: Partial<Filter>) =>
    change(filters.map((filter, each) => (each === index ? { ...filter, ...changed } : filter)));
  const typeOf = (name: string) => columns.find((column) => column.name === name)?.type ?? "text";
  return (
    <fieldset>
      <legend>Filters</legend>
      <ul class="rows">
        {filters.map((filter, index) => (
          <li class="row" key={index}>
            <div class="field">
              <label for={`filter-${index}-column`}>Column {index + 1}</label>
              <select
                id={`filter-${index}-column`}
                value={filter.column}
                onChange={(event) => {
                  const column = event.currentTarget.value;
                  const [first = "eq"] = listOperators(typeOf(column));
                  const operator = listOperators(typeOf(column)).includes(filter.operator)
                    ? filter.operator
                    : first;
                  replace(index, { column, operator });
                }}
              >
                {!columns.some(({ name }) => name === filter.column) && (
                  <option value={filter.column}>{filter.column}</option>
                )}
                {columns.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </div>
            <div class="field">
              <label for={`filter-${index}-operator`}>Comparison {index + 1}</label>
              <select
                id={`filter-${index}-operator`}
                value={filter.operator}
                onChange={(event) => replace(index, { operator: event.currentTarget.value as Operator })}
              >
                {[...new Set([...listOperators(typeOf(filter.column)), filter.operator])].map((operator) => (
                  <option key={operator} value={operator}>
                    {operators[operator]} ({operator})
                  </option>
                ))}
              </select>
            </div>
            {!needsNoValue(filter.operator) && (
              <ValueField
                id={`filter-${index}-value`}
                label={`Value ${index + 1}`}
                type={typeOf(filter.column)}
                filter={filter}
                change={(value) => replace(index, { value })}
              />
            )}
            <button
              type="button"
              class="small plain"
              aria-label={`Remove filter ${index + 1}`}
              onClick={() => {
                change(filters.filter((_, each) => each !== index));
                add.current?.focus();
              }}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <button
        type="button"
        class="small plain"
        ref={add}
        disabled={columns.length === 0}
        onClick={() => {
          const column = columns.find(({ name }) => name === "audit_year") ?? columns[0];
          const [operator = "eq"] = listOperators(column?.type ?? "text");
          change([...filters, { column: column?.name ?? "", operator, value: "" }]);
        }}
      >
        Add a filter
      </button>
    </fieldset>
  );
}

function ValueField({
  id,
  label,
  type,
  filter,
  change,
}: {
  id: string;
  label: string;
  type: string;
  filter: Filter;
  change: (value: string) => void;
}): VNode {
  const hint = {
    in: "One value a line.",
    like: "* stands for any text.",
    ilike: "* stands for any text.",
  }[filter.operator as string];
  const shared = {
    id,
    value: filter.value,
    "aria-describedby": hint === undefined ? undefined : `${id}-hint`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {filter.operator === "in" ? (
        <textarea {...shared} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          // The kinds of input have attributes of their own; these two share what is used here.
          type={(type === "date" ? "date" : "text") as "text"}
          inputmode={kindOf(type) === "number" ? "numeric" : undefined}
          autocomplete="off"
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
