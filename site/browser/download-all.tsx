import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ClientSettings } from "../client-settings.ts";
import { chooseTieBreakers } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import { countRows, type Download, fetchRows, Refused } from "./download-rows.ts";
import { readLimits } from "./limits.ts";
import type { Outcome } from "./read-outcome.ts";
import { Refusal } from "./refusal.tsx";
import { saveFile } from "./save-file.ts";
import type { Answer } from "./send-request.ts";
import type { Explorer } from "./use-explorer.ts";

type Counted = { total: number; requests: number; answer: Answer };
type State =
  | { name: "idle" | "counting" }
  | { name: "offered" | "too many"; counted: Counted; left: number }
  | { name: "running"; counted: Counted; rows: number }
  | { name: "done"; counted: Counted; file: string }
  | { name: "refused"; answer: Answer }
  | { name: "failed"; message: string };

/** Fetches every row of the answer's query as one CSV file: counts first, pages to the end, and can be stopped. */
export function DownloadAll({
  settings,
  explorer,
  outcome,
}: {
  settings: ClientSettings;
  explorer: Explorer;
  outcome: Outcome;
}): VNode {
  const [state, setState] = useState<State>({ name: "idle" });
  const running = useRef<AbortController | undefined>(undefined);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => () => running.current?.abort(), []);
  // A button that went away took the focus with it.
  const hasBegun = useRef(false);
  useEffect(() => {
    if (hasBegun.current && document.activeElement === document.body) button.current?.focus();
    hasBegun.current = true;
  }, [state.name]);
  const { asked, key } = outcome;
  const { query } = asked;
  const table = explorer.findTable(asked);
  const describe = (): Download => {
    running.current = new AbortController();
    return {
      write: (each) => writeTarget(each, chooseTieBreakers(query, table)),
      query,
      apiUrl: settings.apiUrl,
      schema: asked.schema,
      key,
      signal: running.current.signal,
    };
  };
  const fail = (error: unknown) => {
    if (running.current?.signal.aborted) return setState({ name: "idle" });
    if (error instanceof Refused) {
      explorer.noteAnswer(error.answer);
      return setState({ name: "refused", answer: error.answer });
    }
    setState({ name: "failed", message: error instanceof Error ? error.message : String(error) });
  };
  const fetchAll = async (counted: Counted) => {
    setState({ name: "running", counted, rows: 0 });
    try {
      const { name, parts } = await fetchRows(describe(), counted, (rows, answer) => {
        explorer.noteAnswer(answer);
        setState({ name: "running", counted, rows });
      });
      saveFile(`${name}.csv`, parts);
      setState({ name: "done", counted, file: `${name}.csv` });
    } catch (error) {
      fail(error);
    }
  };
  const start = async () => {
    setState({ name: "counting" });
    try {
      const counted = await countRows(describe());
      explorer.noteAnswer(counted.answer);
      const { left } = readLimits(counted.answer);
      if (counted.requests > left) setState({ name: "too many", counted, left });
      else if (counted.requests > 1) setState({ name: "offered", counted, left });
      else await fetchAll(counted);
    } catch (error) {
      fail(error);
    }
  };
  const isBusy = state.name === "counting" || state.name === "running";
  return (
    <>
      <button
        type="button"
        class="small"
        ref={button}
        aria-disabled={isBusy}
        onClick={() => !isBusy && void start()}
      >
        Download all rows
      </button>
      {isBusy && (
        <button type="button" class="small plain" onClick={() => running.current?.abort()}>
          Cancel
        </button>
      )}
      <Progress
        state={state}
        settings={settings}
        table={query.table}
        accept={(counted) => void fetchAll(counted)}
      />
    </>
  );
}

function Progress({
  state,
  settings,
  table,
  accept,
}: {
  state: State;
  settings: ClientSettings;
  table: string;
  accept: (counted: Counted) => void;
}): VNode {
  const format = (number: number) => number.toLocaleString("en-US");
  const size = "counted" in state ? state.counted : undefined;
  const cost =
    size &&
    `${format(size.total)} ${size.total === 1 ? "row" : "rows"}, ${format(size.requests)} ${size.requests === 1 ? "request" : "requests"}`;
  return (
    <div class="progress" role="status">
      {state.name === "counting" && "Counting …"}
      {state.name === "running" && (
        <>
          {cost}: {format(state.rows)} there{" "}
          <progress max={state.counted.total} value={state.rows} aria-label="Rows that are there" />
        </>
      )}
      {state.name === "done" && `${cost}. Saved as ${state.file}`}
      {state.name === "offered" && (
        <>
          {cost} of the {format(state.left)} that are left.{" "}
          <button type="button" class="small" onClick={() => accept(state.counted)}>
            Download them
          </button>
        </>
      )}
      {state.name === "too many" && (
        <>
          {cost}, and {format(state.left)} are left.{" "}
          {settings.hasPublicData && (
            <>
              <a href={`/public-data/${table}.csv.gz`}>
                Take all public rows of <code>{table}</code> as a file
              </a>
              , or{" "}
            </>
          )}
          <a href="/#keys">get a key of your own</a>.
        </>
      )}
      {state.name === "refused" && <Refusal answer={state.answer} settings={settings} table={table} />}
      {state.name === "failed" && state.message}
    </div>
  );
}
