import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Scroll } from "../scroll.tsx";
import { Refusal } from "./refusal.tsx";
import type { Answer } from "./send-request.ts";
import { Tabs } from "./tabs.tsx";

type Row = Record<string, unknown>;

const views = { table: "Table", json: "JSON", headers: "Headers" } as const;
type View = keyof typeof views;

/** What an answer comes to: status, rows, time, what is left of the limit, and what an error says. */
export function AnswerStatus({ answer }: { answer: Answer }): VNode {
  const rows = readRows(answer);
  const summary = summarize(answer, rows);
  return rows === undefined ? (
    <Refusal answer={answer} summary={summary} />
  ) : (
    <p class="notice notice--good">{summary}</p>
  );
}

/** An answer's rows as a table and as JSON, its headers, and the way to the next page. */
export function ResultView({
  answer,
  offset,
  limit,
  isWaiting,
  turn,
}: {
  answer: Answer;
  offset: number;
  limit: number;
  isWaiting: boolean;
  turn: (offset: number) => void;
}): VNode {
  const [view, setView] = useState<View>("table");
  const rows = readRows(answer);
  return (
    <>
      <Tabs id="answer" label="View" tabs={views} current={view} choose={setView}>
        {view === "table" && (rows === undefined ? <p>There are no rows.</p> : <RowsTable rows={rows} />)}
        {view === "json" && (
          <Scroll label="Answer as JSON" kind="code tall">
            <pre>
              <code>{formatJson(answer.text)}</code>
            </pre>
          </Scroll>
        )}
        {view === "headers" && <HeadersTable headers={answer.headers} />}
      </Tabs>
      {rows !== undefined && (
        <div class="actions">
          <button
            type="button"
            class="small plain"
            disabled={isWaiting || offset === 0}
            onClick={() => turn(Math.max(0, offset - limit))}
          >
            Previous page
          </button>
          <button
            type="button"
            class="small plain"
            disabled={isWaiting || rows.length < limit}
            onClick={() => turn(offset + limit)}
          >
            Next page
          </button>
        </div>
      )}
    </>
  );
}

function readRows({ status, text }: Answer): Row[] | undefined {
  if (status !== 200 && status !== 206) return undefined;
  try {
    const rows: unknown = JSON.parse(text);
    return Array.isArray(rows) ? rows : undefined;
  } catch {
    return undefined;
  }
}

function summarize({ status, headers, milliseconds }: Answer, rows: Row[] | undefined): string {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1];
  const left = headers["x-ratelimit-remaining-hour"];
  const limit = headers["x-ratelimit-limit-hour"];
  return [
    `Status ${status}`,
    ...(rows === undefined ? [] : [`${rows.length} ${rows.length === 1 ? "row" : "rows"}`]),
    ...(total === undefined ? [] : [`${Number(total).toLocaleString("en-US")} in all`]),
    `${Math.round(milliseconds)} ms`,
    ...(left === undefined ? [] : [`${left} of ${limit} requests left this hour`]),
  ].join(" · ");
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const longest = 160;

function RowsTable({ rows }: { rows: Row[] }): VNode {
  const [first] = rows;
  if (first === undefined) return <p>No row matches.</p>;
  const names = Object.keys(first);
  return (
    <Scroll label="Rows" kind="tall">
      <table class="rows-table">
        <caption class="visually-hidden">Rows of the answer</caption>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <Cell key={name} value={row[name]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Cell({ value }: { value: unknown }): VNode {
  if (value === null) return <td class="null">null</td>;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return <td>{text.length > longest ? `${text.slice(0, longest)}…` : text}</td>;
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
