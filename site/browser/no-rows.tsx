import type { VNode } from "preact";
import { type Filter, operators, type Query } from "../query.ts";
import { readExtra } from "../write-target.ts";
import type { Outcome } from "./read-outcome.ts";
import type { Explorer } from "./use-explorer.ts";

/** What may be left out or asked more loosely when no row has come. */
export function NoRows({ explorer, outcome }: { explorer: Explorer; outcome: Outcome }): VNode {
  const { asked } = outcome;
  const { query } = asked;
  const columns = explorer.findTable(asked)?.columns ?? [];
  const ask = (changed: Partial<Query>) =>
    void explorer.send({ ...asked, query: { ...query, offset: 0, ...changed } }, { history: "push" });
  const replace = (index: number, filter: Filter) =>
    ask({ filters: query.filters.map((each, other) => (other === index ? filter : each)) });
  const further = readExtra(query.extra);
  const isLoose = query.filters.length === 0 && further.length === 0;
  return (
    <div class="notice">
      <p>
        {query.offset > 0
          ? `There are no rows after the first ${query.offset.toLocaleString("en-US")}.`
          : isLoose
            ? "This table has no rows."
            : query.filters.length + further.length === 1
              ? "No row matches. Ask without the filter, or more loosely:"
              : "No row matches all of the filters. Ask without one of them, or more loosely:"}
      </p>
      <div class="actions">
        {query.offset > 0 && (
          <button type="button" class="small plain" onClick={() => ask({})}>
            To the first rows
          </button>
        )}
        {query.filters.map((filter, index) => (
          <button
            key={`without ${index}`}
            type="button"
            class="small plain"
            onClick={() => ask({ filters: query.filters.filter((_, other) => other !== index) })}
          >
            Without “{describeFilter(filter)}”
          </button>
        ))}
        {query.filters.map((filter, index) => {
          const column = columns.find(({ name }) => name === filter.column);
          const isText = filter.operator === "eq" && column?.type === "text" && column.values.length === 0;
          return (
            isText && (
              <button
                key={`contains ${index}`}
                type="button"
                class="small plain"
                onClick={() => replace(index, { ...filter, operator: "contains" })}
              >
                “{filter.column} contains {filter.value}”
              </button>
            )
          );
        })}
        {further.length > 0 && (
          <button type="button" class="small plain" onClick={() => ask({ extra: "" })}>
            Without “{query.extra}”
          </button>
        )}
      </div>
      {query.filters.map(({ column, operator, value }) => {
        const known = columns.find(({ name }) => name === column)?.values ?? [];
        const isStrange = operator === "eq" && known.length > 0 && !known.includes(value);
        return (
          isStrange && (
            <p key={column}>
              <code>{column}</code> is not known to be “{value}”: {known.join(", ")}.
            </p>
          )
        );
      })}
    </div>
  );
}

function describeFilter({ column, operator, value }: Filter): string {
  const words = `${column} ${operators[operator]} ${value.replaceAll("\n", ", ")}`.trim();
  return words.length > 80 ? `${words.slice(0, 80)}…` : words;
}
