import type { VNode } from "preact";
import type { VersionDescription } from "../api-description.ts";
import { emptyQuery } from "../query.ts";
import { ColumnChecks } from "./column-checks.tsx";
import { NameSelect } from "./editable-rows.tsx";
import { EmbedRows } from "./embed-rows.tsx";
import { FilterRows } from "./filter-rows.tsx";
import { findProblems } from "./find-problems.ts";
import { NumberField } from "./number-field.tsx";
import { OrderRows } from "./order-rows.tsx";
import type { Explorer } from "./use-explorer.ts";

/** Version, table, columns, filters, order and page of a request. */
export function QueryForm({
  versions,
  explorer,
}: {
  versions: VersionDescription[];
  explorer: Explorer;
}): VNode {
  const { form, change, isCounted, setIsCounted } = explorer;
  const { schema, query } = form;
  const tables = versions.find((version) => version.schema === schema)?.tables ?? [];
  const table = explorer.findTable(form);
  const columns = table?.columns ?? [];
  return (
    <>
      <fieldset>
        <legend>Table</legend>
        <div class="row">
          <VersionSelect versions={versions} explorer={explorer} />
          <NameSelect
            id="table"
            label="Table"
            names={tables.map(({ name }) => name)}
            value={query.table}
            change={(name) => change({ ...emptyQuery, limit: query.limit, table: name })}
          />
        </div>
        {table !== undefined && <span class="hint">{table.title}</span>}
        {table === undefined && (
          <p class="notice">
            This version has no table <code>{query.table}</code>.
          </p>
        )}
      </fieldset>
      <FilterRows columns={columns} filters={query.filters} change={(filters) => change({ filters })} />
      <ColumnChecks
        key={`${query.table} columns`}
        columns={columns}
        chosen={query.columns}
        change={(chosen) => change({ columns: chosen })}
      />
      <EmbedRows
        key={`${query.table} embeds`}
        related={table?.embeds ?? []}
        embeds={query.embeds}
        change={(embeds) => change({ embeds })}
      />
      <OrderRows columns={columns} order={query.order} change={(order) => change({ order })} />
      <ExtraField value={query.extra} change={(extra) => change({ extra })} />
      <PageFields explorer={explorer} />
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
    </>
  );
}

export function VersionSelect({
  versions,
  explorer: { form, change },
}: {
  versions: VersionDescription[];
  explorer: Explorer;
}): VNode {
  return (
    <NameSelect
      id="schema"
      label="Version"
      names={versions.map(({ schema }) => schema)}
      value={form.schema}
      change={(name) => change({}, name)}
    />
  );
}

/** What the form has no field for, as it stands in a query string. */
function ExtraField({ value, change }: { value: string; change: (value: string) => void }): VNode {
  return (
    <div class="field">
      <label for="extra">Also send</label>
      <input
        id="extra"
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={value}
        aria-describedby="extra-hint"
        onInput={(event) => change(event.currentTarget.value)}
      />
      <span class="hint" id="extra-hint">
        Anything else PostgREST takes, such as <code>or=(audit_year.eq.2023,audit_year.eq.2022)</code>
      </span>
    </div>
  );
}

function PageFields({ explorer: { form, change } }: { explorer: Explorer }): VNode {
  const { query } = form;
  const problems = findProblems(query);
  const find = (field: string) => problems.find((problem) => problem.field === field)?.message;
  return (
    <fieldset>
      <legend>Page</legend>
      <div class="row row--top">
        <NumberField
          id="limit"
          label="Rows a page"
          value={query.limit}
          problem={find("limit")}
          change={(limit) => change({ limit })}
        />
        <NumberField
          id="offset"
          label="Rows to skip"
          value={query.offset}
          problem={find("offset")}
          change={(offset) => change({ offset })}
        />
      </div>
    </fieldset>
  );
}
