import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { formatValue } from "../format-value.ts";
import { type Filter, largestLimit, operators } from "../query.ts";
import { findColumn } from "../table-facts.ts";
import { decode, writeTarget } from "../write-target.ts";
import { AllRows } from "./all-rows.tsx";
import { describeLimit, formatCount } from "./ask.ts";
import { CopyButton } from "./command.tsx";
import { needsKey, type Outcome } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import { describeReport, ReportView } from "./report-view.tsx";
import { RowsTable } from "./rows-table.tsx";
import { SuppressedNotice } from "./suppressed-notice.tsx";
import type { Explorer, Shown } from "./use-explorer.ts";

/** The last response. A new response scrolls into view, and gets the focus unless it already has it. */
export function AnswerPart({ explorer }: { explorer: Explorer }): VNode {
  const { isWaiting } = explorer;
  // Rows stay while the next ones load, but what a key could not show may be different then.
  const outcome = isWaiting && explorer.outcome && needsKey(explorer.outcome) ? undefined : explorer.outcome;
  const part = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (outcome === undefined) return;
    if (!part.current?.contains(document.activeElement)) heading.current?.focus({ preventScroll: true });
    part.current?.scrollIntoView();
  }, [outcome]);
  const isRow = outcome !== undefined && isOneRow(outcome);
  const title = outcome?.table?.title ?? "Rows";
  return (
    <section class="result" aria-labelledby="result" aria-busy={isWaiting} ref={part}>
      <div class="wrap">
        {isRow && (
          <p class="row">
            {title} <CopyButton name="Copy link" label="Copy link to this row" text={location.href} />
          </p>
        )}
        <h2 id="result" tabIndex={-1} ref={heading}>
          {isRow ? describeReport(outcome) : title}
        </h2>
        {outcome?.table && !isRow && <Question explorer={explorer} outcome={outcome} />}
        {outcome && <PrintedSource outcome={outcome} />}
        <p role="status" id="status" class="hint">
          {isWaiting ? "Loading …" : outcome ? describeOutcome(outcome, explorer) : "No rows yet."}
        </p>
        {outcome && <Found explorer={explorer} outcome={outcome} />}
      </div>
      {outcome?.rows?.length && !isRow ? (
        <div class="wrap wrap--wide">
          <RowsTable key={outcome.asked.query.table} explorer={explorer} outcome={outcome} />
        </div>
      ) : null}
    </section>
  );
}

/** Whether a response is shown as a report in full. */
const isOneRow = ({ asked, rows = [] }: Outcome): boolean => asked.isRow && rows.length > 0;

/** What was found: a refusal, a report, or what can be done with the rows. */
function Found({ explorer, outcome }: Shown): VNode {
  const { rows, asked, key, answer } = outcome;
  if (rows === undefined) return <Refusal answer={answer} explorer={explorer} table={asked.query.table} />;
  if (isOneRow(outcome)) return <ReportView explorer={explorer} outcome={outcome} />;
  return (
    <>
      <AllRows
        key={key + writeTarget({ ...asked.query, order: [], offset: 0 })}
        explorer={explorer}
        outcome={outcome}
      >
        <Turns explorer={explorer} outcome={outcome} />
        <CopyButton name="Copy link" label="Copy link to these rows" text={location.href} />
        <button type="button" class="plain" onClick={() => document.getElementById("table")?.focus()}>
          Change the query
        </button>
      </AllRows>
      {needsKey(outcome) && <SuppressedNotice explorer={explorer} outcome={outcome} />}
      {rows.length === 0 && (
        <p class="notice">
          No rows match. Remove a filter above, or change it in the form. The <a href="/totals">totals</a>{" "}
          list every program, state, agency and year that has rows.
        </p>
      )}
    </>
  );
}

/** Buttons for the page before and the page after. */
function Turns({ explorer, outcome: { asked, rows = [] } }: Shown): VNode {
  const { offset, limit } = asked.query;
  const turns: [name: string, isPossible: boolean, to: number][] = [
    ["Previous", offset > 0, Math.max(0, offset - limit)],
    ["Next", rows.length >= limit, offset + limit],
  ];
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
    </>
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
  const labelOf = (name = "") => findColumn(table, name)?.label ?? name;
  const describe = ({ column, operator, value }: Filter) => {
    const words = operator === "contains" ? undefined : findColumn(table, column)?.words;
    const values = value.split("\n").map((each) => formatValue(column, each, words));
    const listed = values.length > 5 ? `${values.length} values` : values.join(", ");
    return `${labelOf(column)} ${operators[operator]} ${value === "" ? "" : listed}`.trimEnd();
  };
  const describeOrder = (term: string) => {
    const [name, direction] = term.split(".");
    const descending = /year|date/.test(name ?? "") ? ", newest first" : ", descending";
    return labelOf(name) + (direction === "desc" ? descending : "");
  };
  const others = describeExtra(extra, labelOf);
  const parts = filters.map((filter) => ({
    text: describe(filter),
    without: { filters: filters.filter((each) => each !== filter) },
  }));
  return (
    <p class="row question">
      {filters.length + extra.length === 0 && "All rows"}
      {[...parts, ...(extra === "" ? [] : [{ text: others, without: { extra: "" } }])].map(
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

/** Describes in words what the site's own links ask for, such as words of a name; returns other parameters decoded. */
function describeExtra(extra: string, labelOf: (name: string) => string): string {
  return decode(extra)
    .replace(/^(?:\w+\.)?or=\((\w+)\.is\.null,\1\.eq\.\)$/, (_all, name) => `${labelOf(name)} is not stated`)
    .replace(
      /^(auditor_)?words=(?:plfts|wfts)\(names\)\.(.+?)(?: or .+)?$/,
      (_all, auditor, words) => `${auditor ? "Auditor" : "Auditee"} name has the words “${words}”`,
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
