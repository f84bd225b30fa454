import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";
import { Scroll } from "../scroll.tsx";
import type { Outcome } from "./read-outcome.ts";
import { RowCard } from "./row-card.tsx";
import { RowsTable } from "./rows-table.tsx";
import type { Answer } from "./send-request.ts";
import { Tabs } from "./tabs.tsx";
import type { Explorer } from "./use-explorer.ts";

const views = { table: "Table", json: "JSON", headers: "Headers" } as const;
type View = keyof typeof views;

/** How many rows are drawn at a time: a browser takes seconds for thousands. */
const drawn = 200;

/** An answer's rows as a table and as JSON, its headers, and a row that was opened. */
export function ResultView({
  answer,
  outcome,
  settings,
  versions,
  explorer,
}: {
  answer: Answer;
  outcome: Outcome;
  settings: ClientSettings;
  versions: VersionDescription[];
  explorer: Explorer;
}): VNode {
  const { rows = [], asked } = outcome;
  const [view, setView] = useState<View>(rows.length > 0 ? "table" : "json");
  const [shown, setShown] = useState(drawn);
  const [opened, setOpened] = useState<number>();
  const table = explorer.findTable(asked);
  const openedRow = opened === undefined ? undefined : rows[opened];
  const more = Math.min(drawn, rows.length - shown);
  return (
    <>
      <Tabs id="answer" label="View" tabs={views} current={view} choose={setView}>
        {view === "table" && rows.length === 0 && <p>There are no rows.</p>}
        {view === "table" && rows.length > 0 && (
          <RowsTable rows={rows.slice(0, shown)} table={table} query={asked.query} open={setOpened} />
        )}
        {view === "json" && (
          <Scroll label="Answer as JSON" kind="code tall">
            <pre>
              <code>
                {rows.length > 0 ? JSON.stringify(rows.slice(0, shown), null, 2) : formatJson(answer.text)}
              </code>
            </pre>
          </Scroll>
        )}
        {view === "headers" && <HeadersTable headers={answer.headers} />}
      </Tabs>
      {view !== "headers" && more > 0 && (
        <p class="actions">
          <span>
            {shown} of the answer’s {rows.length.toLocaleString("en-US")} rows are drawn.
          </span>
          <button type="button" class="small plain" onClick={() => setShown(shown + drawn)}>
            Draw {more} more
          </button>
        </p>
      )}
      {openedRow !== undefined && opened !== undefined && (
        <RowCard
          row={openedRow}
          title={`Row ${(asked.query.offset + opened + 1).toLocaleString("en-US")} of ${asked.query.table}`}
          schema={asked.schema}
          table={table}
          settings={settings}
          versions={versions}
          explorer={explorer}
          close={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function HeadersTable({ headers }: { headers: Record<string, string> }): VNode {
  return (
    <Scroll label="Headers of the answer">
      <table>
        <caption class="visually-hidden">Headers of the answer</caption>
        <thead>
          <tr>
            <th scope="col">Header</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(headers).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
