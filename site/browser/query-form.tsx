import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { joinAlnTerms, listColumns, listComparisons, listFilterColumns, splitAlnTerms } from "../aln.ts";
import type { Column } from "../api-description.ts";
import { agencies, states } from "../names.ts";
import { findSeparator } from "../normalize-query.ts";
import { type Filter, listOperators, needsNoValue, type Operator, operators } from "../query.ts";
import { isAgency } from "./format-value.ts";
import type { Explorer } from "./use-explorer.ts";

/** The form for a request's table, filters and columns. */
export function QueryForm({ explorer }: { explorer: Explorer }): VNode {
  const { versions, form, change, changeTable, dropped, submit } = explorer;
  const { query } = form;
  const tables = versions.find(({ schema }) => schema === form.schema)?.tables ?? [];
  const table = tables.find(({ name }) => name === query.table);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Choice
        id="table"
        label="Table"
        options={tables.map(({ name, title }) => [name, `${title} (${name})`])}
        value={query.table}
        choose={changeTable}
      />
      <p role="status">{dropped}</p>
      <Filters
        columns={table ? listFilterColumns(table) : []}
        filters={query.filters}
        change={(filters) => change({ filters })}
      />
      <Columns
        columns={table ? listColumns(table) : []}
        chosen={joinAlnTerms(query.select)}
        choose={(select) => change({ select: splitAlnTerms(query.table, select) })}
      />
      <details open={query.extra !== ""}>
        <summary>Advanced: other query parameters</summary>
        <Text
          id="extra"
          label="Other parameters"
          hint="As in the API’s query string, such as or=(audit_year.eq.2023,audit_year.eq.2022)"
          value={query.extra}
          change={(extra) => change({ extra })}
        />
      </details>
      <button type="submit">Show the rows</button>
    </form>
  );
}

interface Labeled {
  id: string;
  label: string;
  value: string;
}

interface Typed extends Labeled {
  hint?: string;
  type?: "text" | "password" | "lines";
  /** Values to choose from, and their labels. */
  known?: string[][];
  change: (value: string) => void;
}

export function Text({ id, label, value, hint, type = "text", known = [], change }: Typed): VNode {
  const shared = { id, value, autocomplete: "off", "aria-describedby": hint && `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === "lines" ? (
        <textarea {...shared} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          // Preact's types do not allow a list of choices for a password, which has none.
          type={type as "text"}
          list={known.length > 0 ? `${id}-known` : undefined}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      <datalist id={`${id}-known`}>
        {known.map(([each, text]) => (
          <option key={each} value={each} label={text} />
        ))}
      </datalist>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface Choices extends Labeled {
  options: [value: string, text: string][];
  choose: (value: string) => void;
}

/** A list of choices. A value that is not in the list came from a link, and is kept, so that the API can refuse it. */
export function Choice({ id, label, options, value, choose }: Choices): VNode {
  const all = new Map([
    ...(options.some(([each]) => each === value) ? [] : [[value, value] as const]),
    ...options,
  ]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {[...all].map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

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

/** The filters, which must all match. There is always at least one to fill in. */
function Filters({ columns, filters, change }: Conditions): VNode {
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
        choose={(name) => replace({ ...suggestFilter(columns, name), value: filter.value })}
      />
      <Choice
        id={`operator-${index}`}
        label={`Comparison ${index + 1}`}
        options={comparisons.map((each) => [each, operators[each]])}
        value={filter.operator}
        choose={(operator) => replace({ ...filter, operator: operator as Operator })}
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

interface Terms {
  columns: Column[];
  chosen: string[];
  choose: (select: string[]) => void;
}

/** The columns that a request selects; all if none is chosen. Other terms of select, from a link, can be removed. */
function Columns({ columns, chosen, choose }: Terms): VNode {
  const names = columns.map(({ name }) => name);
  const terms = new Set([...names, ...chosen.filter((term) => term !== "*")]);
  const toggle = (term: string) => {
    choose([...terms].filter((each) => chosen.includes(each) !== (each === term)));
  };
  const isAll = chosen.length === 0 || chosen.includes("*");
  return (
    <details open={chosen.length > 0}>
      <summary>{isAll ? "Choose columns (default: all)" : `Columns: ${chosen.length}`}</summary>
      <div class="checks">
        {[...terms].map((term) => (
          <label class="check" key={term}>
            <input type="checkbox" checked={chosen.includes(term)} onChange={() => toggle(term)} />
            <span>
              {columns.find(({ name }) => name === term)?.label} <code>{term}</code>
            </span>
          </label>
        ))}
      </div>
    </details>
  );
}
