import type { VNode } from "preact";
import { type Filter, kindOf, listOperators, needsNoValue, type Operator, operators } from "../query.ts";
import { EditableRows, NameSelect } from "./editable-rows.tsx";
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
  const typeOf = (name: string) => columns.find((column) => column.name === name)?.type ?? "text";
  const makeFilter = (): Filter => {
    const column = columns.find(({ name }) => name === "audit_year") ?? columns[0];
    const [operator = "eq"] = listOperators(column?.type ?? "text");
    return { column: column?.name ?? "", operator, value: "" };
  };
  return (
    <EditableRows
      legend="Filters"
      noun="a filter"
      terms={filters}
      columns={columns}
      change={change}
      makeTerm={makeFilter}
      describeRow={(filter, index, replace) => (
        <>
          <NameSelect
            id={`filter-${index}-column`}
            label={`Column ${index + 1}`}
            names={columns.map(({ name }) => name)}
            value={filter.column}
            change={(column) => {
              const fitting = listOperators(typeOf(column));
              const [first = "eq"] = fitting;
              replace({ column, operator: fitting.includes(filter.operator) ? filter.operator : first });
            }}
          />
          <div class="field">
            <label for={`filter-${index}-operator`}>Comparison {index + 1}</label>
            <select
              id={`filter-${index}-operator`}
              value={filter.operator}
              onChange={(event) => replace({ operator: event.currentTarget.value as Operator })}
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
              change={(value) => replace({ value })}
            />
          )}
        </>
      )}
    />
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
