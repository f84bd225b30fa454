import type { VNode } from "preact";
import type { Column } from "../api-description.ts";
import { type Filter, kindOf, listOperators, needsNoValue, type Operator, operators } from "../query.ts";
import { EditableRows, NameSelect } from "./editable-rows.tsx";

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
  const find = (name: string) => columns.find((column) => column.name === name);
  const typeOf = (name: string) => find(name)?.type ?? "text";
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
              const isKept = filter.value !== "" && fitting.includes(filter.operator);
              // Of names and texts people know a part.
              const best = /name|text|title|content|action|program|city|address|email/.test(column)
                ? "contains"
                : first;
              replace({
                column,
                operator: isKept ? filter.operator : fitting.includes(best) ? best : first,
              });
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
              column={find(filter.column)}
              filter={filter}
              change={(value) => replace({ value })}
            />
          )}
        </>
      )}
    />
  );
}

const shortList = 12;

function ValueField({
  id,
  label,
  column,
  filter,
  change,
}: {
  id: string;
  label: string;
  column: Column | undefined;
  filter: Filter;
  change: (value: string) => void;
}): VNode {
  const { type, values } = column ?? { type: "text", values: [] };
  const isOneOf = filter.operator === "in";
  const isPattern = filter.operator === "like" || filter.operator === "ilike";
  const isKnown = values.length > 0 && !isPattern && filter.operator !== "contains";
  const hint = [
    ...(isOneOf ? ["One value a line."] : []),
    ...(isPattern ? ["* stands for any text; without one the whole value must match."] : []),
    ...(isKnown && values.length <= shortList ? [`Known: ${values.join(", ")}.`] : []),
  ].join(" ");
  const shared = { id, value: filter.value, "aria-describedby": hint === "" ? undefined : `${id}-hint` };
  const isDate = kindOf(type) === "date" && /^(\d{4}-\d{2}-\d{2})?$/.test(filter.value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isOneOf ? (
        <textarea {...shared} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          // The kinds of input have attributes of their own; these two share what is used here.
          type={(isDate ? "date" : "text") as "text"}
          inputmode={kindOf(type) === "number" ? "numeric" : undefined}
          list={isKnown ? `${id}-list` : undefined}
          autocomplete="off"
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      {isKnown && !isOneOf && (
        <datalist id={`${id}-list`}>
          {values.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
      {hint !== "" && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
