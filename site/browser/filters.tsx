import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { listComparisons } from "../aln.ts";
import type { Column } from "../api-description.ts";
import { formatValue, isAgency } from "../format-value.ts";
import { agencies, states } from "../names.ts";
import { isOfCodes } from "../normalize-query.ts";
import { type Filter, listOperators, listValues, needsNoValue, type Operator, operators } from "../query.ts";
import { Choice, Text } from "./fields.tsx";

interface Conditions {
  columns: Column[];
  filters: Filter[];
  change: (filters: Filter[]) => void;
}

/** The known values of a column, with their words. */
function listKnown({ name, type, values, words }: Column): [value: string, text: string][] {
  if (isAgency(name)) return Object.entries(agencies);
  const listed = type === "boolean" ? ["true", "false"] : values;
  if (name.endsWith("_state")) {
    const inOrder = Object.keys(states).filter((state) => listed.includes(state));
    const others = listed.filter((each) => !inOrder.includes(each));
    return [...inOrder, ...others].map((each) => [each, formatValue(name, each, states)]);
  }
  return listed.map((each) => [each, formatValue(name, each, words)]);
}

/** A filter on a column, with the comparison that people usually mean: they know only part of a name or text. */
function suggestFilter(columns: Column[], name: string): Filter {
  const isText = /name|text|title|content|action|program|city|address|email/.test(name);
  const type = columns.find((column) => column.name === name)?.type;
  return { column: name, operator: isText && type === "text" ? "contains" : "eq", value: "" };
}

/** Chooses another column for a filter. Keeps what was typed, and its comparison if the other column has it. */
function moveFilter(filter: Filter, columns: Column[], name: string): Filter {
  const suggested = suggestFilter(columns, name);
  const column = columns.find((each) => each.name === name);
  const isKept = filter.value !== "" && column && listComparisons(column).includes(filter.operator);
  return { ...changeOperator(filter, isKept ? filter.operator : suggested.operator), column: name };
}

/** Chooses another comparison. A field for one value has one line, where values on several lines would run together. */
function changeOperator(filter: Filter, operator: Operator): Filter {
  return {
    ...filter,
    operator,
    value: operator === "in" ? filter.value : listValues(filter.value).join(", "),
  };
}

/** The filters, which must all match. There is always at least one to fill in. */
export function Filters({ columns, filters, change }: Conditions): VNode {
  const add = useRef<HTMLButtonElement>(null);
  const has = (name: string) => columns.some((column) => column.name === name);
  const blank = suggestFilter(columns, ["auditee_name", "audit_year"].find(has) ?? columns[0]?.name ?? "");
  const shown = filters.length === 0 ? [blank] : filters;
  return (
    <fieldset>
      <legend>Filters</legend>
      {shown.map((filter, index) => (
        <FilterFields
          key={index}
          columns={columns}
          filter={filter}
          index={index}
          replace={(changed) => change(shown.with(index, changed))}
          remove={() => {
            change(shown.toSpliced(index, 1));
            add.current?.focus();
          }}
        />
      ))}
      <button
        type="button"
        class="plain"
        ref={add}
        onClick={() => {
          change([...shown, blank]);
          requestAnimationFrame(() => document.getElementById(`column-${shown.length}`)?.focus());
        }}
      >
        Add a filter
      </button>
    </fieldset>
  );
}

interface Condition {
  filter: Filter;
  index: number;
  replace: (filter: Filter) => void;
}

/** The column, comparison and value of a filter. */
function FilterFields({
  columns,
  filter,
  index,
  replace,
  remove,
}: Condition & { columns: Column[]; remove: () => void }): VNode {
  const column = columns.find(({ name }) => name === filter.column);
  const comparisons = column === undefined ? listOperators("text") : listComparisons(column);
  return (
    <div class="row filter">
      <Choice
        id={`column-${index}`}
        label={`Column ${index + 1}`}
        options={columns.map(({ name, label }) => [name, label])}
        value={filter.column}
        choose={(name) => replace(moveFilter(filter, columns, name))}
      />
      <Choice
        id={`operator-${index}`}
        label={`Comparison ${index + 1}`}
        options={comparisons.map((each) => [each, operators[each]])}
        value={filter.operator}
        choose={(operator) => replace(changeOperator(filter, operator as Operator))}
      />
      <FilterValue filter={filter} column={column} index={index} replace={replace} />
      <button type="button" class="plain" aria-label={`Remove filter ${index + 1}`} onClick={remove}>
        Remove
      </button>
    </div>
  );
}

/** The filter's value. People choose it if all values of the column are known codes, and type it otherwise. */
function FilterValue({
  filter,
  column,
  index,
  replace,
}: Condition & { column: Column | undefined }): VNode | null {
  const { operator, value } = filter;
  const known = column === undefined ? [] : listKnown(column);
  const change = (changed: string) => replace({ ...filter, value: changed });
  const shared = { id: `value-${index}`, label: labelValue(filter, index + 1, column), value };
  if (needsNoValue(operator)) return null;
  if (/^n?eq$/.test(operator) && column && column.values.length > 0 && Object.keys(column.words).length > 0)
    return <Choice {...shared} options={[["", ""], ...known]} choose={change} />;
  return <Text {...shared} type={operator === "in" ? "lines" : "text"} known={known} change={change} />;
}

function labelValue({ operator }: Filter, number: number, column: Column | undefined): string {
  if (operator !== "in") return `Value ${number}`;
  const separation =
    column && isOfCodes(column) ? "separated by commas, spaces or line breaks" : "one per line";
  return `Values ${number} (${separation})`;
}
