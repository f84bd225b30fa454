import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Filter, largestLimit, operators } from "../query.ts";
import { writeTarget } from "../write-target.ts";
import { AllRows } from "./all-rows.tsx";
import { describeLimit, formatCount } from "./ask.ts";
import { CopyButton } from "./command.tsx";
import { formatValue } from "./format-value.ts";
import type { Outcome } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import { describeRow, RowView } from "./row-view.tsx";
import { RowsTable } from "./rows-table.tsx";
import type { Explorer, Shown } from "./use-explorer.ts";

/** The last response. A new response scrolls into view, and gets the focus unless it already has it. */
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
  const link = location.href;
  const { offset = 0, limit = 0 } = outcome?.asked.query ?? {};
  const turns: [name: string, isPossible: boolean, to: number][] = [
    ["Previous", offset > 0, Math.max(0, offset - limit)],
    ["Next", rows.length >= limit, offset + limit],
  ];
  return (
    <section class="result" aria-labelledby="result" aria-busy={isWaiting} ref={part}>
      <div class="wrap">
        {isRow && (
          <p class="row">
            {title} <CopyButton name="Copy link" label="Copy link to this row" text={link} />
          </p>
        )}
        <h2 id="result" tabIndex={-1} ref={heading}>
          {isRow ? describeRow(outcome) : title}
        </h2>
        {outcome?.table && !isRow && <Question explorer={explorer} outcome={outcome} />}
        {outcome && <PrintedSource outcome={outcome} />}
        <p role="status" id="status" class="hint">
          {isWaiting ? "Loading …" : outcome ? describeOutcome(outcome, explorer) : "No rows yet."}
        </p>
        {outcome?.rows && !isRow && (
          <AllRows
            key={outcome.key + writeTarget({ ...outcome.asked.query, order: [], offset: 0 })}
            explorer={explorer}
            outcome={outcome}
          >
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
          </AllRows>
        )}
        {outcome && !outcome.rows && (
          <Refusal answer={outcome.answer} explorer={explorer} table={outcome.asked.query.table} />
        )}
        {outcome?.rows?.length === 0 && (
          <p class="notice">
            No rows match. Remove a filter above, or change it in the form. The <a href="/totals">totals</a>{" "}
            list every state, agency and year that has rows.
          </p>
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

/** Says on paper where the rows come from. */
function PrintedSource({ outcome: { answer, rows = [], total } }: { outcome: Outcome }): VNode {
  const [, published = ""] = /published="([^"]+)"/.exec(answer.headers["data-set"] ?? "") ?? [];
  const dataSet = published && `from the data set of ${published.slice(0, 10)}, `;
  const read = new Date(answer.receivedAt).toLocaleString("en-US", { dateStyle: "long", timeStyle: "short" });
  return (
    <p class="print-only">
      {formatCount(rows.length, "row")} of {total.toLocaleString("en-US")}, {dataSet}read {read}.{" "}
      {location.href}
    </p>
  );
}

/** The request in words. Each filter can be removed. */
function Question({ explorer, outcome: { asked, table } }: Shown): VNode {
  const { filters, order, extra } = asked.query;
  const labelOf = (name = "") => table?.columns.find((column) => column.name === name)?.label ?? name;
  const describe = ({ column, operator, value }: Filter) => {
    const values = value.split("\n").map((each) => formatValue(column, each));
    const listed = values.length > 5 ? `${values.length} values` : values.join(", ");
    return `${labelOf(column)} ${operators[operator]} ${value === "" ? "" : listed}`.trimEnd();
  };
  const describeOrder = (term: string) => {
    const [name, direction] = term.split(".");
    const descending = /year|date/.test(name ?? "") ? ", newest first" : ", descending";
    return labelOf(name) + (direction === "desc" ? descending : "");
  };
  // Describes the filter for an auditee's reports in words; shows all other parameters as typed.
  const anyOf = extra.replace(
    /^or=\((\w+)\.eq\.(\w+),(\w+)\.eq\.(\w+)\)$/,
    (_all, one, value, other, another) => `${labelOf(one)} is ${value} or ${labelOf(other)} is ${another}`,
  );
  const parts = filters.map((filter) => ({
    text: describe(filter),
    without: { filters: filters.filter((each) => each !== filter) },
  }));
  return (
    <p class="row question">
      {filters.length + extra.length === 0 && "All rows"}
      {[...parts, ...(extra === "" ? [] : [{ text: anyOf, without: { extra: "" } }])].map(
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
      {order.length > 0 && <span>sorted by {order.map(describeOrder).join("; ")}</span>}
    </p>
  );
}

function describeOutcome({ asked, rows = [], total, answer }: Outcome, { lastAnswer }: Explorer): string {
  const { offset } = asked.query;
  const format = (count: number) => count.toLocaleString("en-US");
  const all = `${total > largestLimit ? "about " : ""}${format(total)}`;
  const shown =
    rows.length > 0 && !asked.isRow && `Rows ${format(offset + 1)}–${format(offset + rows.length)} of ${all}`;
  return [shown, describeLimit(lastAnswer ?? answer)].filter(Boolean).join(" · ");
}
