import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";
import { AnswerBar } from "./answer-bar.tsx";
import { NoRows } from "./no-rows.tsx";
import { Refusal } from "./refusal.tsx";
import { ResultView } from "./result-view.tsx";
import type { Explorer } from "./use-explorer.ts";

/** The last answer. When there is a new one, it comes into view and takes the focus. */
export function ResultPart({
  settings,
  versions,
  explorer,
}: {
  settings: ClientSettings;
  versions: VersionDescription[];
  explorer: Explorer;
}): VNode {
  const { outcome, isWaiting, isCurrent } = explorer;
  const part = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (outcome === undefined) return;
    heading.current?.focus({ preventScroll: true });
    part.current?.scrollIntoView();
  }, [outcome]);
  const serial = useRef({ outcome, count: 0 });
  if (serial.current.outcome !== outcome) serial.current = { outcome, count: serial.current.count + 1 };
  return (
    <section class="wrap wrap--wide result" aria-labelledby="result" aria-busy={isWaiting} ref={part}>
      <h2 id="result" tabIndex={-1} ref={heading}>
        Answer
      </h2>
      {outcome === undefined && <p role="status">{isWaiting ? "Asking …" : "Nothing has been sent yet."}</p>}
      {outcome !== undefined && <AnswerBar settings={settings} explorer={explorer} outcome={outcome} />}
      {outcome !== undefined && !isCurrent && !isWaiting && <Outdated explorer={explorer} />}
      {outcome?.problem !== undefined && <p class="notice notice--error">{outcome.problem}</p>}
      {outcome?.answer !== undefined && outcome.rows === undefined && (
        <Refusal answer={outcome.answer} settings={settings} table={outcome.asked.query.table}>
          {outcome.answer.status === 412 && (
            <button type="button" onClick={() => explorer.turn(0)}>
              Start again from the first row
            </button>
          )}
        </Refusal>
      )}
      {outcome?.rows?.length === 0 && <NoRows explorer={explorer} outcome={outcome} />}
      {outcome?.answer !== undefined && (
        <ResultView
          // What was opened, chosen or drawn belongs to one answer.
          key={serial.current.count}
          answer={outcome.answer}
          outcome={outcome}
          settings={settings}
          versions={versions}
          explorer={explorer}
        />
      )}
    </section>
  );
}

/** Says that the form asks for something else by now. */
function Outdated({ explorer: { form, outcome, send } }: { explorer: Explorer }): VNode {
  return (
    <div class="notice outdated" role="status">
      <p>
        The form has changed since. This is still the answer to <code>{outcome?.target}</code>
      </p>
      <button type="button" class="small" onClick={() => void send(form, { history: "push" })}>
        Send the changed request
      </button>
    </div>
  );
}
