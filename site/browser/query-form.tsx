import type { VNode } from "preact";
import { joinAlnTerms, listColumns, listFilterColumns, splitAlnTerms } from "../aln.ts";
import type { Column } from "../api-description.ts";
import { Choice, Text } from "./fields.tsx";
import { Filters } from "./filters.tsx";
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
        options={tables.map(({ name, title }) => [name, title])}
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
