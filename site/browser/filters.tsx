import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { listComparisons } from "../aln.ts";
import type { Column } from "../api-description.ts";
import { isAgency } from "../format-value.ts";
import { agencies, states } from "../names.ts";
import { findSeparator } from "../normalize-query.ts";
import { type Filter, listOperators, listValues, needsNoValue, type Operator, operators } from "../query.ts";
import { Choice, Text } from "./fields.tsx";

interface Conditions {
  columns: Column[];
  filters: Filter[];
  change: (filters: Filter[]) => void;
}

/** The values that a column is known to have, with the names of agencies and states. */
function listKnown(column: Column | undefined): string[][] {
  if (column && isAgency(column.name)) return Object.entries(agencies);
  const values = column?.type === "boolean" ? ["true", "false"] : (column?.values ?? []);
  return values.map((each) => (column?.name.endsWith("_state") ? [each, states[each] ?? ""] : [each]));
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
  columns: Column[];
  filter: Filter;
  index: number;
  replace: (filter: Filter) => void;
  remove: () => void;
}

/** The column, comparison and value of a filter. */
function FilterFields({ columns, filter, index, replace, remove }: Condition): VNode {
  const column = columns.find(({ name }) => name === filter.column);
  const comparisons = column === undefined ? listOperators("text") : listComparisons(column);
  return (
    <div class="row filter">
      <Choice
        id={`column-${index}`}
        label={`Column ${index + 1}`}
        options={columns.map(({ name, label }) => [name, `${label} (${name})`])}
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
      {!needsNoValue(filter.operator) && (
        <Text
          id={`value-${index}`}
          label={labelValue(filter, index + 1, column)}
          value={filter.value}
          type={filter.operator === "in" ? "lines" : "text"}
          known={listKnown(column)}
          change={(value) => replace({ ...filter, value })}
        />
      )}
      <button type="button" class="plain" aria-label={`Remove filter ${index + 1}`} onClick={remove}>
        Remove
      </button>
    </div>
  );
}

function labelValue({ operator }: Filter, number: number, column: Column | undefined): string {
  if (operator !== "in") return `Value ${number}`;
  const separation = column && findSeparator(column) ? "separated by commas" : "one per line";
  return `Values ${number} (${separation})`;
}
