import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { linkToExplorer } from "../example-request.ts";
import { type Filter, largestLimit, operators } from "../query.ts";
import { describeLimit } from "./ask.ts";
import { CopyButton } from "./command.tsx";
import { Downloads } from "./downloads.tsx";
import { formatValue } from "./format-value.ts";
import type { Outcome } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import { describeRow, RowView } from "./row-view.tsx";
import { RowsTable } from "./rows-table.tsx";
import type { Explorer, Shown } from "./use-explorer.ts";

/** The last response. A new one comes into view, and takes the focus unless that is in it already. */
export function AnswerPart({ explorer }: { explorer: Explorer }): VNode {
  const { outcome, isWaiting } = explorer;
  const part = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (outcome === undefined) return;
    if (!part.current?.contains(document.activeElement)) heading.current?.focus({ preventScroll: true });
    part.current?.scrollIntoView();
  }, [outcome]);
  const rows = outcome?.rows ?? [];
  const isRow = outcome?.asked.isRow && rows.length > 0;
  const title = outcome?.table?.title ?? "Rows";
  return (
    <section class="result" aria-labelledby="result" aria-busy={isWaiting} ref={part}>
      <div class="wrap">
        {isRow && <p class="hint">{title}</p>}
        <h2 id="result" tabIndex={-1} ref={heading}>
          {isRow ? describeRow(outcome) : title}
        </h2>
        {outcome?.table && !isRow && <Question explorer={explorer} outcome={outcome} />}
        <p role="status" id="status">
          {isWaiting ? "Loading …" : outcome ? describeOutcome(outcome) : "No rows yet."}
        </p>
        {outcome?.rows && !isRow && (
          <div class="row">
            <Turns explorer={explorer} outcome={outcome} />
            {rows.length > 0 && <Downloads key={outcome.target} explorer={explorer} outcome={outcome} />}
          </div>
        )}
        {outcome && !outcome.rows && (
          <Refusal answer={outcome.answer} explorer={explorer} table={outcome.asked.query.table} />
        )}
        {outcome?.rows?.length === 0 && (
          <p class="notice">No rows match. Remove a filter above, or change it in the form.</p>
        )}
        {isRow && <RowView explorer={explorer} outcome={outcome} />}
      </div>
      {outcome && rows.length > 0 && !isRow && (
        <div class="wrap wrap--wide">
          <RowsTable key={outcome.asked.query.table} explorer={explorer} outcome={outcome} />
        </div>
      )}
    </section>
  );
}

/** What was asked, in words. Each filter can be removed. */
function Question({ explorer, outcome: { asked, table } }: Shown): VNode {
  const { filters, order, extra } = asked.query;
  const labelOf = (name = "") => table?.columns.find((column) => column.name === name)?.label ?? name;
  const describe = ({ column, operator, value }: Filter) => {
    const values = value.split("\n").map((each) => formatValue(column, each));
    return `${labelOf(column)} ${operators[operator]} ${value === "" ? "" : values.join(", ")}`.trimEnd();
  };
  const parts = filters.map((filter) => ({
    text: describe(filter),
    without: { filters: filters.filter((each) => each !== filter) },
  }));
  const sorting = order.map(
    (term) => `${labelOf(term.split(".")[0])}${term.includes(".desc") ? ", largest first" : ""}`,
  );
  return (
    <p class="row question">
      {filters.length + extra.length === 0 && "All rows"}
      {[...parts, ...(extra === "" ? [] : [{ text: extra, without: { extra: "" } }])].map(
        ({ text, without }) => (
          <button
            key={text}
            type="button"
            class="plain"
            aria-label={`Remove the filter: ${text}`}
            onClick={() => explorer.refine(without)}
          >
            {text} <span aria-hidden="true">×</span>
          </button>
        ),
      )}
      {order.length > 0 && <span>sorted by {sorting.join("; ")}</span>}
    </p>
  );
}

/** The pages before and after, and a link to this one. */
function Turns({ explorer, outcome: { asked, rows = [] } }: Shown): VNode {
  const { offset, limit } = asked.query;
  const turns: [name: string, isPossible: boolean, to: number][] = [
    ["Previous", offset > 0, Math.max(0, offset - limit)],
    ["Next", rows.length >= limit, offset + limit],
  ];
  const link = new URL(linkToExplorer(asked.schema, asked.query), location.href).href;
  return (
    <>
      {turns.map(([name, isPossible, to]) => (
        <button
          key={name}
          type="button"
          class="plain"
          aria-disabled={!isPossible}
          onClick={() => isPossible && explorer.refine({ offset: to })}
        >
          {name}
        </button>
      ))}
      <CopyButton name="Copy link" label="Copy link to these rows" text={link} />
    </>
  );
}

function describeOutcome({ asked, rows = [], total, answer }: Outcome): string {
  const { offset } = asked.query;
  const format = (count: number) => count.toLocaleString("en-US");
  const all = `${total > largestLimit ? "about " : ""}${format(total)}`;
  const shown =
    rows.length > 0 && !asked.isRow && `Rows ${format(offset + 1)}–${format(offset + rows.length)} of ${all}`;
  return [shown, describeLimit(answer)].filter(Boolean).join(" · ");
}
