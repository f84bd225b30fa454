import type { VNode } from "preact";
import type { ClientSettings } from "../client-settings.ts";
import { DownloadAll } from "./download-all.tsx";
import { describeLimits } from "./limits.ts";
import type { Outcome } from "./read-outcome.ts";
import type { Explorer } from "./use-explorer.ts";

/** What an answer comes to, and the ways on from it. It stays in view while the rows are scrolled. */
export function AnswerBar({
  settings,
  explorer,
  outcome,
}: {
  settings: ClientSettings;
  explorer: Explorer;
  outcome: Outcome;
}): VNode {
  const { isWaiting, latest, turn } = explorer;
  const { answer, rows, asked } = outcome;
  const { offset, limit } = asked.query;
  const limits = latest === undefined ? undefined : describeLimits(latest);
  const summary = isWaiting
    ? "Asking …"
    : [
        ...(answer === undefined ? ["No answer"] : [`Status ${answer.status}`]),
        ...(rows === undefined ? [] : [describeRows(outcome)]),
        ...(answer === undefined ? [] : [`${Math.round(answer.milliseconds)} ms`]),
        ...(limits === undefined ? [] : [limits]),
      ].join(" · ");
  const isLast = rows === undefined || rows.length < limit || limit === 0;
  const go = (isPossible: boolean, to: number) => isPossible && !isWaiting && turn(to);
  return (
    <div class="bar-of-answer">
      <p role="status" id="status">
        {summary}
      </p>
      {rows !== undefined && (
        <div class="actions">
          <button
            type="button"
            class="small plain"
            aria-disabled={isWaiting || offset === 0}
            onClick={() => go(offset > 0, Math.max(0, offset - limit))}
          >
            Previous
          </button>
          <button
            type="button"
            class="small plain"
            aria-disabled={isWaiting || isLast}
            onClick={() => go(!isLast, offset + limit)}
          >
            Next
          </button>
          {rows.length > 0 && (
            <DownloadAll key={outcome.target} settings={settings} explorer={explorer} outcome={outcome} />
          )}
        </div>
      )}
    </div>
  );
}

function describeRows({ rows = [], total, asked }: Outcome): string {
  const format = (number: number) => number.toLocaleString("en-US");
  const all = total === undefined ? "" : ` of ${format(total)}`;
  if (rows.length === 0) return `no rows${all}`;
  const { offset } = asked.query;
  return rows.length === 1
    ? `row ${format(offset + 1)}${all}`
    : `rows ${format(offset + 1)}–${format(offset + rows.length)}${all}`;
}
